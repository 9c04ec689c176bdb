/**
 * A runtime's state as data, so that what led to it can be forgotten, and a runtime made from it. What is over is kept as what
 * came of it. A container that runs is not: its script is in the middle of something. It is started again, at the time at which
 * it was, with the files that were at its mounts then, and does what it did.
 */
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../../wire/cri-messages.ts";
import type { Micros } from "../kernel/types.ts";
import type { KeptFault } from "./call-faults.ts";
import { addContainer } from "./container-calls.ts";
import { newFiles, startContainer } from "./container-life.ts";
import type { KeptLie } from "./figure-lies.ts";
import { dumpOf, type FileDump, putBack } from "./file-dump.ts";
import type { StoredImage } from "./images.ts";
import type { MachineUsage } from "./machine.ts";
import { isFromOutside } from "./processes/box.ts";
import type { ContainerRecord, UsageSetting } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { reservedNameOf } from "./sandbox-calls.ts";

export interface KeptState {
  readonly atMicros: Micros;
  readonly generation: number;
  readonly podNetwork?: string;
  readonly addressCount: number;
  readonly conditions: { readonly runtimeReady: boolean; readonly networkReady: boolean };
  readonly usage: MachineUsage;
  readonly settings: readonly (readonly [string, UsageSetting])[];
  readonly lies: readonly KeptLie[];
  readonly faults: readonly KeptFault[];
  readonly images: readonly StoredImage[];
  readonly sandboxes: readonly KeptSandbox[];
  readonly containers: readonly KeptContainer[];
  readonly host: KeptFiles;
}

export interface KeptSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly handler: string;
  readonly createdMicros: Micros;
  readonly ip: string;
  readonly ready: boolean;
}

export interface KeptContainer extends Facts {
  readonly id: string;
  readonly sandbox: string;
  readonly config: ContainerConfig;
  readonly image: StoredImage;
  readonly createdMicros: Micros;
  /** What its own processes have computed. */
  readonly cpuMicros?: Micros;
  readonly began?: readonly FileDump[];
  readonly layer?: KeptFiles;
}

interface Facts {
  readonly state: ContainerRecord["state"];
  readonly startedMicros: Micros;
  readonly finishedMicros: Micros;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly resources?: LinuxContainerResources;
  readonly logRest: { 1: string; 2: string };
}

interface KeptFiles {
  readonly dump: FileDump;
  readonly made: number;
}

export function keptState(state: RuntimeState): KeptState {
  const { machine, podNetwork } = state;
  return {
    atMicros: state.nowMicros,
    generation: state.generation,
    ...(podNetwork === undefined ? {} : { podNetwork }),
    addressCount: state.addressCount,
    conditions: { ...state.conditions },
    usage: machine.usage,
    settings: [...state.settings],
    lies: state.lies.kept,
    faults: state.faults.kept,
    images: [...state.images.stored.values()].map((image) => ({ ...image, tags: [...image.tags] })),
    sandboxes: [...state.sandboxes.values()].map(({ id, config, handler, createdMicros, ip, ready }) => ({
      ...{ id, config, handler, createdMicros, ip, ready },
    })),
    containers: [...state.containers.values()].map(keptContainer),
    host: { dump: dumpOf(machine.host, "/") as FileDump, made: machine.host.filesMade },
  };
}

function keptContainer(container: ContainerRecord): KeptContainer {
  const { id, sandbox, config, image, createdMicros, state, startedMicros, finishedMicros } = container;
  const { exitCode, reason, message, resources, logRest, box, isService, began } = container;
  const layer = container.files?.layer;
  return {
    ...{ id, sandbox: sandbox.id, config, image, createdMicros },
    ...{ state, startedMicros, finishedMicros, exitCode, reason, message, logRest: { ...logRest } },
    ...(resources === undefined ? {} : { resources }),
    ...(box === undefined ? {} : { cpuMicros: box.cpuMicros }),
    ...(box === undefined || isService || began === undefined ? {} : { began }),
    ...(layer === undefined ? {} : { layer: { dump: dumpOf(layer, "/") as FileDump, made: layer.filesMade } }),
  };
}

/** What containers that run are in the middle of. Two runtimes of one state with the same picture go on in the same way. */
export function pictureOf(state: RuntimeState): string {
  const running = [...state.containers.values()].flatMap((container) => {
    const { id, box, startedMicros } = container;
    if (box === undefined) return [];
    const own = [...box.processes.values()].filter((process) => !isFromOutside(process));
    const processes = own.map(({ pid, parent, program, waits, status, environment, directory }) => {
      const { state: shell } = program as { readonly state?: { readonly variables: ReadonlyMap<string, string> } };
      const variables = [...(shell?.variables ?? [])];
      const { name, memoryBytes } = program;
      const step = typeof waits === "object" && waits.until === Infinity ? "signal" : waits;
      return [pid, parent, name, memoryBytes, step, status ?? null, [...environment], directory, variables];
    });
    return [[id, startedMicros, processes]];
  });
  return JSON.stringify(running);
}

/** Makes a runtime what it was. Between `begin` and `end` it lives through the time in between. */
export class Restoration {
  private readonly state: RuntimeState;
  private readonly kept: KeptState;

  constructor(state: RuntimeState, kept: KeptState) {
    this.state = state;
    this.kept = kept;
  }

  /** When containers that run were started, and what starts them. */
  begin(): readonly { readonly atMicros: Micros; readonly take: () => void }[] {
    const { state, kept } = this;
    const { machine } = state;
    state.isRestoring = true;
    machine.takesAll = true;
    state.images.putBack(kept.images.map((image) => ({ ...image, tags: [...image.tags] })));
    for (const sandbox of kept.sandboxes) {
      state.sandboxes.set(sandbox.id, { ...sandbox, containers: [], listed: undefined });
      state.reserved.set(reservedNameOf(sandbox.config), sandbox.id);
      if (sandbox.ready) state.addresses.add(sandbox.ip);
    }
    const running: { readonly atMicros: Micros; readonly take: () => void }[] = [];
    for (const facts of kept.containers) {
      const container = this.made(facts);
      if (facts.state !== "CONTAINER_RUNNING") continue;
      const take = (): void => {
        for (const dump of facts.began ?? []) putBack(machine.host, dump);
        startContainer(state, container);
        if (facts.began !== undefined) container.began = facts.began;
      };
      running.push({ atMicros: facts.startedMicros, take });
    }
    putBack(machine.host, kept.host.dump);
    return running;
  }

  private made(facts: KeptContainer): ContainerRecord {
    const { state } = this;
    const sandbox = state.sandboxes.get(facts.sandbox);
    if (sandbox === undefined) throw new SyntaxError(`container ${facts.id} has no sandbox`);
    const { id, config, createdMicros } = facts;
    const image = state.images.stored.get(facts.image.id) ?? { ...facts.image };
    const container = addContainer(state, { id, sandbox, config, image, createdMicros });
    state.reserved.set(container.reservedName, id);
    if (facts.state !== "CONTAINER_RUNNING") setFacts(container, facts);
    // Whatever limit it has now, it has lived till then.
    else container.resources = undefined;
    return container;
  }

  end(): void {
    const { state, kept } = this;
    const { machine } = state;
    restoreFiles(machine.host, kept.host);
    for (const facts of kept.containers) {
      const container = state.containers.get(facts.id);
      if (container === undefined) continue;
      // One that ran and has ended on the way did so at its own time.
      if (facts.state !== "CONTAINER_RUNNING" || container.box !== undefined) setFacts(container, facts);
      if (facts.layer !== undefined) {
        container.files ??= newFiles(state, container, new Set());
        container.files.layer ??= machine.newTree(machine.imageDisk);
        restoreFiles(container.files.layer, facts.layer);
      }
      if (container.box !== undefined) container.box.cpuMicros = facts.cpuMicros ?? 0;
    }
    machine.takesAll = false;
    state.isRestoring = false;
    machine.usage = kept.usage;
    Object.assign(state.conditions, kept.conditions);
    state.podNetwork = kept.podNetwork;
    state.addressCount = kept.addressCount;
    for (const [name, setting] of kept.settings) state.settings.set(name, setting);
    state.lies.putBack(kept.lies);
    state.faults.putBack(kept.faults);
    for (const container of state.containers.values()) {
      state.applySetting(container);
      container.listed = undefined;
      if (container.box !== undefined) state.schedule(container, state.nowMicros);
    }
    for (const sandbox of state.sandboxes.values()) sandbox.listed = undefined;
    state.generation = Math.max(state.generation, kept.generation);
    state.lists.clear();
    state.totalUse = undefined;
  }
}

function restoreFiles(tree: Parameters<typeof putBack>[0], { dump, made }: KeptFiles): void {
  putBack(tree, dump);
  tree.filesMade = made;
}

function setFacts(container: ContainerRecord, facts: KeptContainer): void {
  const { state, startedMicros, finishedMicros, exitCode, reason, message, resources, logRest } = facts;
  Object.assign(container, { state, startedMicros, finishedMicros, exitCode, reason, message, resources });
  Object.assign(container.logRest, logRest);
}
