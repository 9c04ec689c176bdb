/** Calls of the `Machine` service: what an agent reads of its host, and the files that it keeps there. */
import { grpcCode } from "../../wire/cri.ts";
import type { CallHandler } from "./container-calls.ts";
import { bytesText, type DirectoryNode, type FileError, readFile } from "./file-tree.ts";
import { memoryReading } from "./machine.ts";
import { connect } from "./network.ts";
import { digestOf } from "./images.ts";
import { textBytes, toByteText } from "./file-tree.ts";
import { machineFigures } from "./figure-lies.ts";
import type { MachineReadingResponse } from "../../wire/cri-messages.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { totalUse, volumesOf } from "./usage-of.ts";
import { totalUntil } from "./usage-model.ts";

type MachineMethod =
  | "MachineInfo"
  | "MachineReading"
  | "PathUsage"
  | "ReadPath"
  | "WritePath"
  | "MakePath"
  | "RenamePath"
  | "RemovePath"
  | "ListPath"
  | "Connect";

const READ_BYTES_MAX = 4 << 20;

export const machineCalls: { readonly [M in MachineMethod]: CallHandler<M> } = {
  MachineInfo(state, _message, answer) {
    const { name, boot, milliCpu, memoryBytes, swapBytes, pids, ...kernel } = state.machine.options;
    const { cgroupVersion, tunables, numaNodes, threadsPerCore, sockets } = kernel;
    const id = digestOf("machine", name);
    answer({
      ok: true,
      message: {
        machineId: id.slice(0, 32),
        systemUuid: uuidOf(id),
        bootId: uuidOf(boot === 0 ? digestOf("boot", name) : digestOf("boot", name, String(boot))),
        kernelVersion: "6.1.0-touchstone",
        osImage: "Touchstone simulated machine",
        operatingSystem: "linux",
        architecture: "amd64",
        milliCpu,
        memoryBytes,
        swapBytes,
        pids,
        cgroupVersion,
        tunables,
        numaNodes,
        threadsPerCore,
        sockets,
      },
    });
  },

  MachineReading(state, _message, answer) {
    const { machine } = state;
    const { options, usage } = machine;
    const at = state.nowMicros;
    const { workingSetBytes: podBytes, cpuNanos: podCpu, pids: podPids, nanoCores: podCores } = totalUse(state);
    const nanoCores = machine.amount(usage.cpu, at) + podCores;
    const memory = machine.memory(podBytes);
    const root = machine.reading(machine.rootDisk);
    const image = machine.reading(machine.imageDisk);
    const swapUsed = Math.min(options.swapBytes, machine.amount(usage.swap, at));
    const timestamp = state.unixNanos(at);
    const running = usage.pids === null ? undefined : machine.amount(usage.pids, at) + podPids + state.sandboxes.size;
    const cpuTotal = usage.cpu === undefined ? 0 : totalUntil(usage.cpu, Math.max(0, at - (usage.sinceMicros ?? 0)));
    const reading: MachineReadingResponse = {
      timestamp,
      ...(memory === undefined
        ? {}
        : { memory, podsMemory: memoryReading(podBytes + machine.memoryFilesBytes, options.memoryBytes) }),
      swap: {
        timestamp,
        swapAvailableBytes: { value: options.swapBytes - swapUsed },
        swapUsageBytes: { value: swapUsed },
      },
      cpu: {
        timestamp,
        usageCoreNanoSeconds: { value: cpuTotal + podCpu },
        usageNanoCores: { value: Math.min(nanoCores, options.milliCpu * 1_000_000) },
      },
      ...(root === undefined ? {} : { rootFilesystem: root }),
      ...(image === undefined ? {} : { imageFilesystem: image }),
      ...(running === undefined ? {} : { pids: { max: options.pids, running: Math.min(running, options.pids) } }),
    };
    answer({ ok: true, message: state.lies.of(machineFigures, "reading", reading) });
  },

  PathUsage(state, { paths = [] }, answer) {
    const usages = paths.map((path) => {
      const use = state.machine.host.use(path);
      const said = saidOf(state, path);
      return {
        path,
        found: use !== undefined,
        usedBytes: (use?.bytes ?? 0) + said.bytes,
        inodesUsed: (use?.inodes ?? 0) + said.inodes,
      };
    });
    answer({ ok: true, message: { usages } });
  },

  ReadPath(state, { path = "", offset = 0, limit = 0 }, answer) {
    const node = state.machine.host.find(path);
    if (node?.is !== "file") {
      answer(refused("open", path, node === undefined ? "No such file or directory" : "Is a directory"));
      return;
    }
    const size = limit > 0 ? Math.min(limit, READ_BYTES_MAX) : READ_BYTES_MAX;
    const content = readFile(node, Math.max(0, offset), size);
    answer({ ok: true, message: { size: node.sizeBytes, content, file: node.number } });
  },

  WritePath(state, { path = "", content, append = false }, answer) {
    const { host } = state.machine;
    const file = host.open(path, append, state.nowMicros);
    if (typeof file === "string") {
      answer(refused("open", path, file));
      return;
    }
    const failure = content === undefined ? undefined : host.append(path, file, bytesText(content), state.nowMicros);
    answer(failure === undefined ? { ok: true, message: {} } : refused("write", path, failure));
  },

  MakePath(state, { path = "", inMemory = false, limitBytes = 0 }, answer) {
    const made = state.machine.host.makeDirectories(path, state.nowMicros);
    if (typeof made === "string") {
      answer(refused("mkdir", path, made));
      return;
    }
    if (inMemory) (made as DirectoryNode).inMemory ??= { limitBytes };
    answer({ ok: true, message: {} });
  },

  RenamePath(state, { from = "", to = "", exchange = false }, answer) {
    const { host } = state.machine;
    const failure = exchange ? host.exchange(from, to, state.nowMicros) : host.rename(from, to, state.nowMicros);
    answer(failure === undefined ? { ok: true, message: {} } : refused("rename", from, failure));
  },

  // As `rm -rf` has it: what is not there is no failure.
  RemovePath(state, { path = "" }, answer) {
    const { host } = state.machine;
    const failure = host.find(path) === undefined ? undefined : host.remove(path, state.nowMicros);
    answer(failure === undefined ? { ok: true, message: {} } : refused("remove", path, failure));
  },

  ListPath(state, { path = "" }, answer) {
    const node = state.machine.host.find(path);
    if (node?.is !== "directory") {
      answer(refused("open", path, node === undefined ? "No such file or directory" : "Not a directory"));
      return;
    }
    const entries = [...node.entries].map(([name, entry]) => ({
      name,
      directory: entry.is === "directory",
      size: entry.is === "file" ? entry.sizeBytes : 4096,
      modifiedAt: state.unixNanos(entry.modifiedMicros),
    }));
    answer({ ok: true, message: { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) } });
  },

  Connect(state, { ip = "", port = 0, http, grpc = false }, answer) {
    if (grpc) {
      const { outcome, status } = connect(state, ip, port, { path: "/grpc.health.v1.Health/Check", method: "POST" });
      // What takes connections alone says nothing. A service that answers HTTP with 200 is healthy to the health protocol too:
      // 1 is SERVING, 2 NOT_SERVING.
      const isMute = outcome === "OPEN" && status === 0;
      const health = outcome !== "OPEN" || isMute ? 0 : status === 200 ? 1 : 2;
      answer({ ok: true, message: { outcome: isMute ? "SILENT" : outcome, status: health, body: new Uint8Array() } });
      return;
    }
    const asked = http === undefined ? undefined : { path: http.path || "/", method: http.method || "GET" };
    const { outcome, status, body } = connect(state, ip, port, asked);
    answer({ ok: true, message: { outcome, status, body: textBytes(toByteText(body)) } });
  },
};

const refused = (action: string, path: string, why: FileError) =>
  ({
    ok: false,
    code: why === "No such file or directory" ? grpcCode.notFound : grpcCode.unknown,
    text: `${action} ${path}: ${why.toLowerCase()}`,
  }) as const;

/** Volumes and logs that are only said to be there count where their pod's logs are. */
function saidOf(state: RuntimeState, path: string): { readonly bytes: number; readonly inodes: number } {
  let bytes = 0;
  let inodes = 0;
  if (state.modelled.size === 0) return { bytes, inodes };
  for (const sandbox of state.sandboxes.values()) {
    const directory = sandbox.config.logDirectory ?? "";
    if (directory === "" || (directory !== path && !directory.startsWith(`${path}/`))) continue;
    if (!sandbox.containers.some(({ box }) => box !== undefined)) continue;
    const volumes = volumesOf(state, sandbox);
    bytes += volumes.bytes;
    inodes += volumes.inodes;
  }
  return { bytes, inodes };
}

const uuidOf = (digits: string): string =>
  [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20, 32)].join("-");
