// Brings node_modules in line with package-lock.json, once. When nothing is missing it only reads two files and
// never touches the network. Plain JavaScript without dependencies, like everything that runs before an install.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { nodeMissing, pinnedNode, root, usableNode } from "./pinned-node.mjs";

const modules = join(root, "node_modules");
/** Inside node_modules, so that whatever replaces the folder also removes the stamp. */
const stampFile = join(modules, ".touchstone-installed");
/** Outside node_modules, which an install empties. */
const lockFile = join(root, "out", "install.lock");

/** Returns undefined when everything is in place, else one sentence or two on what to do. */
export function installWhatIsMissing() {
  const wanted = fingerprint();
  if (isStamped(wanted)) return undefined;
  const release = takeLock();
  try {
    if (isStamped(wanted)) return undefined; // another process installed while this one waited
    if (!matchesPackageLock()) {
      const problem = npmCi();
      if (problem !== undefined) return problem;
    }
    dropBrokenNode();
    if (usableNode() === undefined) {
      return `${nodeMissing} npm seems to skip install scripts: run \`npm rebuild node --ignore-scripts=false\`, or use Node 24.`;
    }
    writeFileSync(stampFile, wanted);
    return undefined;
  } finally {
    release();
  }
}

/** Of what an install depends on: the locked versions, and the platform, in case the checkout is a shared folder. */
function fingerprint() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform} ${process.arch}`).digest("hex");
}

function isStamped(wanted) {
  return usableNode() !== undefined && readText(stampFile) === wanted;
}

/** Whether somebody already ran npm by hand: npm keeps a record of what it has placed. */
function matchesPackageLock() {
  const placed = readText(join(modules, ".package-lock.json"));
  if (placed === undefined) return false;
  const have = JSON.parse(placed).packages;
  const want = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  return Object.entries(want).every(([path, { version, integrity, optional }]) => {
    if (path === "") return true;
    const found = have[path];
    if (found === undefined) return optional === true; // meant for another platform
    return found.version === version && found.integrity === integrity && existsSync(join(root, path));
  });
}

/** `npm ci` with its output on stderr, so that a task's stdout stays its own. */
function npmCi() {
  console.error("touchstone: installing dependencies (once) …");
  const [command, ...before] = npmCommand();
  // NODE_ENV=production must not leave out the tools, nor the pinned Node.
  const args = [...before, "ci", "--include=dev", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const { error, status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32" && before.length === 0,
  });
  if (error?.code === "ENOENT") return "npm is not installed, and dependencies are missing. Install npm and try again.";
  if (error !== undefined) return `npm could not be started: ${error.message}`;
  if (status === 0) return undefined;
  return "npm ci failed, see above. The first run needs the package registry: check the network or the proxy and try again. Later runs need no network.";
}

/** The npm that runs this script, else the one on the PATH. */
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running !== undefined && basename(running) === "npm-cli.js" && existsSync(running)) {
    return [process.execPath, running];
  }
  return ["npm"];
}

/** A pinned Node that cannot start on this machine (another C library) is worse than none: it would be preferred. */
function dropBrokenNode() {
  const pinned = pinnedNode();
  if (pinned !== undefined && spawnSync(pinned, ["--version"]).status !== 0) rmSync(pinned);
}

/** One installer at a time. Waits for a living holder; takes over from a dead one, or from one that died before it wrote its number. */
function takeLock() {
  mkdirSync(dirname(lockFile), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: "wx" });
      return () => rmSync(lockFile, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = Number(readText(lockFile));
    if (holder > 0 ? !isAlive(holder) : told) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (!told) console.error(`touchstone: waiting for another install (process ${holder}, lock ${lockFile}) …`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM"; // alive, but somebody else's
  }
}

function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
