import type { CriRuntime } from "../cri/cri-port.ts";
import type { Process } from "../kernel/types.ts";
import type { SimulatedRuntime } from "../runtime/runtime.ts";

/** A machine that goes down and comes up again as another process. */
export interface Incarnations {
  readonly isAlive: boolean;
  readonly process: Process;
  readonly made: SimulatedRuntime;
}

/** The runtime of a machine, whichever of its incarnations is up. */
export function machinePort(machine: Incarnations): CriRuntime {
  return {
    start(request, done, fail) {
      if (machine.isAlive) return machine.made.start(request, done);
      fail("refused");
      return () => {};
    },
    events: (reader, sink) => machine.made.events(reader, sink),
    usageVersion: () => (machine.isAlive ? machine.made.usageVersion() : undefined),
    imagesVersion: () => (machine.isAlive ? machine.made.imagesVersion() : undefined),
    filesVersion: () => (machine.isAlive ? machine.made.filesVersion() : undefined),
    quiet(woken) {
      if (!machine.isAlive) return undefined;
      const forget = machine.process.onCrash(woken);
      const cancel = machine.made.quiet(() => {
        forget();
        woken();
      });
      if (cancel === undefined) {
        forget();
        return undefined;
      }
      return () => {
        forget();
        cancel();
      };
    },
  };
}
