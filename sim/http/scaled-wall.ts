/** A clock that runs faster or slower than the machine's. */
import type { WallPorts } from "../kernel/wall-driver.ts";

/** `speed` > 0: seconds of the cluster in one of the world. */
export function scaledWall(ports: WallPorts, speed: number): WallPorts {
  if (speed === 1) return ports;
  return {
    nowMicros: () => Math.floor(ports.nowMicros() * speed),
    wake: (delayMicros, fire) => ports.wake(Math.ceil(delayMicros / speed), fire),
  };
}
