/**
 * Machines that an agent does not start on, by its settings. Source: document 3, --fail-swap-on, --fail-cgroupv1,
 * --protect-kernel-defaults; the published agent's texts and the settings of the kernel that it wants.
 */
import type { MachineInfoResponse } from "../../../wire/cri-messages.ts";

export interface StartGuards {
  readonly failSwapOn: boolean;
  readonly failCgroupV1: boolean;
  /** Settings of the kernel that are not as the agent wants them are an error. */
  readonly protectKernelDefaults: boolean;
}

const wantedTunables: Readonly<Record<string, string>> = {
  "vm.overcommit_memory": "1",
  "vm.panic_on_oom": "0",
  "kernel.panic": "10",
  "kernel.panic_on_oops": "1",
  "kernel.keys.root_maxkeys": "1000000",
  "kernel.keys.root_maxbytes": "25000000",
};

/** Undefined: it may start. A machine that does not say what it has is taken as it is. */
export function refusedMachine(
  { swapBytes, cgroupVersion, tunables }: MachineInfoResponse,
  { failSwapOn, failCgroupV1, protectKernelDefaults }: StartGuards,
): string | undefined {
  if (swapBytes > 0 && failSwapOn)
    return "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false";
  if (cgroupVersion === 1 && failCgroupV1)
    return "this machine has control groups of version 1, which are in maintenance mode: move it to version 2, or set --fail-cgroupv1 to false";
  if (!protectKernelDefaults) return undefined;
  const wrong = Object.entries(wantedTunables).flatMap(([name, expected]) => {
    const actual = tunables[name];
    if (actual === undefined || actual === expected) return [];
    return [`invalid kernel flag: ${name.replaceAll(".", "/")}, expected value: ${expected}, actual value: ${actual}`];
  });
  return wrong.length === 0 ? undefined : `${wrong.join("; ")}: --protect-kernel-defaults leaves them as they are`;
}
