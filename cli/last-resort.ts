/**
 * Exceptions that nobody caught, in whichever turn they came. They end a command that works out an answer, which would be wrong; a
 * server, an agent and a runtime tell of them and go on, since everybody's data would be gone with them.
 */
import process from "node:process";
import { explain } from "./explain.ts";

type Uncaught = (error: unknown, from: "socket" | "promise") => void;

let uncaught: Uncaught = (error) => process.exit(explain(error));
let stays = false;

/** Whether the command goes on until it is told to end. */
export const isStaying = (): boolean => stays;

/** Once, at the start of the process. */
export function endAfterUncaught(): void {
  process.on("uncaughtException", (error, origin) =>
    uncaught(error, origin === "unhandledRejection" ? "promise" : "socket"),
  );
}

/** From here on, for a command that stays. */
export function goOnAfterUncaught(tell: Uncaught): void {
  uncaught = tell;
  stays = true;
}
