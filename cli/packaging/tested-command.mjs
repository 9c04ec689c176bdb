// What tests start as `touchstone`: the code as the package has it, made for one run of the tests and removed after it. It starts in
// two thirds of the checkout's time, and it is what users run.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root } from "../pinned-node.mjs";
import { makeRunnable } from "./runnable.mjs";

const folders = join(root, "out", "tested");
const own = join(folders, String(process.pid));

/** Projects that extend one configuration each call `setup`. */
let made;
let scratch;

/**
 * For vitest: provides the file to start as `testedCommand`, made again before tests are run again, and as `scratchFolder` one
 * that is gone with the run.
 */
export async function setup(project) {
  made ??= make();
  scratch ??= mkdtempSync(join(tmpdir(), "touchstone-tests-"));
  await made;
  project.provide("testedCommand", join(own, "cli", "main.js"));
  project.provide("scratchFolder", scratch);
  project.onTestsRerun(make);
}

export function teardown() {
  for (const folder of [own, scratch]) rmSync(folder, { recursive: true, force: true });
}

function make() {
  removeLeft();
  return makeRunnable(own);
}

/** A run that was killed has removed nothing. */
function removeLeft() {
  for (const name of existsSync(folders) ? readdirSync(folders) : [])
    if (!isRunning(Number(name))) rmSync(join(folders, name), { recursive: true, force: true });
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
