/** The flags of `touchstone runtime`: a simulated container runtime on a socket, and changes of one that runs. */
import { object } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { command, constant, flag, option } from "@optique/core/primitives";
import { choice, integer, string } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { commandOrFlags } from "./command-or-flags.ts";
import { file, json } from "./common-flags.ts";

/** Always needed: the command says so, with an example, where the parser would only say that nothing matches. */
const listen = optional(
  option("--listen", string({ metavar: "unix:///PATH" }), {
    description: message`${text("The socket of the runtime, as unix:///path. Always needed.")}`,
  }),
);
const quantity = string({ metavar: "QUANTITY" });
const usage = string({ metavar: "USAGE" });

const serveRuntime = object({
  command: constant("runtime"),
  action: constant("serve"),
  listen,
  state: optional(
    option("--state", path({ metavar: "FILE", type: "file", allowCreate: true }), {
      description: message`Where calls are written down, so that containers outlive the process. Default: the socket's path with .state.`,
    }),
  ),
  images: optional(
    option("--images", file("FILE"), { description: message`What images there are, and how they behave: YAML.` }),
  ),
  name: withDefault(
    option("--name", string({ metavar: "NAME" }), {
      description: message`The machine's name; its identifiers follow from it.`,
    }),
    "node-1",
  ),
  seed: withDefault(
    option("--seed", integer({ min: 0, max: 4_294_967_295, metavar: "N" }), {
      description: message`Seed of identifiers and of how long calls take.`,
    }),
    1,
  ),
  cpu: withDefault(option("--cpu", quantity, { description: message`Processors of the machine.` }), "4"),
  memory: withDefault(option("--memory", quantity, { description: message`Memory of the machine.` }), "16Gi"),
  swap: withDefault(option("--swap", quantity, { description: message`Swap of the machine.` }), "0"),
  pids: withDefault(
    option("--pids", quantity, { description: message`Processes that the machine can have.` }),
    "32768",
  ),
  cgroupVersion: withDefault(
    option("--cgroup-version", integer({ min: 1, max: 2, metavar: "1|2" }), {
      description: message`Version of the control groups of the machine's kernel.`,
    }),
    2,
  ),
  numaNodes: withDefault(
    option("--numa-nodes", integer({ min: 1, max: 10, metavar: "N" }), {
      description: message`NUMA nodes that processors and memory of the machine are shared out among.`,
    }),
    1,
  ),
  sockets: withDefault(
    option("--sockets", integer({ min: 0, max: 10, metavar: "N" }), {
      description: message`Sockets on which the NUMA nodes lie. 0: each has its own.`,
    }),
    0,
  ),
  threadsPerCore: withDefault(
    option("--threads-per-core", integer({ min: 1, max: 8, metavar: "N" }), {
      description: message`Processors of a physical core.`,
    }),
    1,
  ),
  runtimeHandlers: multiple(
    option("--runtime-handler", string({ metavar: "NAME" }), {
      description: message`A handler beside the one that all pods have, as a RuntimeClass names it; may be repeated.`,
    }),
  ),
  tunables: multiple(
    option("--tunable", string({ metavar: "NAME=VALUE" }), {
      description: message`A setting of the machine's kernel, such as kernel.panic=0; may be repeated.`,
    }),
  ),
  disk: withDefault(option("--disk", quantity, { description: message`Size of the root file system.` }), "100Gi"),
  inodes: withDefault(
    option("--inodes", quantity, { description: message`Inodes of the root file system.` }),
    "6553600",
  ),
  imageDisk: optional(
    option("--image-disk", quantity, {
      description: message`Size of a file system for images and writable layers. Default: they lie on the root's.`,
    }),
  ),
  imageInodes: withDefault(
    option("--image-inodes", quantity, { description: message`Inodes of the file system for images.` }),
    "6553600",
  ),
  closedRegistry: withDefault(
    flag("--closed-registry", { description: message`Only images of --images can be pulled. Otherwise any name can.` }),
    false,
  ),
  json,
});

const setRuntime = object({
  command: constant("runtime"),
  action: constant("set"),
  listen,
  pod: optional(
    option("--pod", string({ metavar: "NAMESPACE/NAME[/CONTAINER]" }), {
      description: message`Whose usage: a pod's or a container's. Without it: the machine's, beside all pods.`,
    }),
  ),
  clear: withDefault(flag("--clear", { description: message`Take back all that was set for the pod.` }), false),
  memory: optional(
    option("--memory", usage, {
      description: message`${text("200Mi, ramp 10Mi..200Mi over 60s, sawtooth 10Mi..200Mi every 30s, leak 10Mi + 1Mi/s, random 10Mi..20Mi every 5s, steps 0s:10Mi 30s:100Mi, trace FILE.")}`,
    }),
  ),
  cpu: optional(option("--cpu", usage, { description: message`Cores, in the same forms: 250m, ramp 0..2 over 1m.` })),
  pids: optional(option("--pids", usage, { description: message`Processes, in the same forms.` })),
  disk: optional(
    option("--disk", usage, {
      description: message`Bytes: of the machine's root file system, or of a writable layer.`,
    }),
  ),
  inodes: optional(option("--inodes", usage, { description: message`Inodes there.` })),
  volumes: optional(
    option("--volumes", usage, { description: message`Bytes of a pod's logs and volumes. Needs --pod.` }),
  ),
  imageDisk: optional(
    option("--image-disk", usage, { description: message`Bytes of the file system for images. Not with --pod.` }),
  ),
  not: multiple(
    option("--not", choice(["runtime-ready", "network-ready", "figures"], { metavar: "WHAT" }), {
      description: message`${text("What is not, from now on: runtime-ready, network-ready, or with --pod the pod's figures.")}`,
    }),
  ),
  calls: multiple(
    option("--call", string({ metavar: "WHAT" }), {
      description: message`${text('Calls that go wrong from now on: "PullImage fails no route to host", "StartContainer takes 5s", "StopContainer of default/web hangs", "* hangs"; may be repeated.')}`,
    }),
  ),
  figures: optional(
    option("--figures", string({ metavar: "WHAT" }), {
      description: message`${text('What figures do, whatever is used: "stand still", "are 3 times as much", "lack memory" (cpu, disk, processes), "are old by 5m". Of a pod with --pod, otherwise of the machine.')}`,
    }),
  ),
  again: multiple(
    option("--again", choice(["runtime-ready", "network-ready", "figures", "calls"], { metavar: "WHAT" }), {
      description: message`What is again.`,
    }),
  ),
});

export const runtime = commandOrFlags(
  command("set", setRuntime, { brief: message`Change what a running runtime's pods and machine use.` }),
  serveRuntime,
);
