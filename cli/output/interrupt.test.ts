import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { interruptMeaning } from "./interrupt.ts";

it("an interrupt asks, the next ends, and what comes at the same moment is the same one", () => {
  const meaning = interruptMeaning();
  expect([5000, 5001, 5099, 5400].map(meaning)).toEqual(["ask", "same", "same", "end"]);
});

it.each(["SIGINT", "SIGTERM"] as const)(
  "%s reaches the command when its starter alone is told",
  async (signal) => {
    const bin = fileURLToPath(new URL("../bin.mjs", import.meta.url));
    const child = spawn(process.execPath, [bin, "serve", "--port", "0", "--profile", "kubernetes"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const code = await new Promise<number | null>((resolve) => {
      child.stdout.once("data", () => child.kill(signal));
      child.on("exit", resolve);
    });
    expect(code).toBe(0);
  },
  60_000,
);

it("a command ends with its starter, when that is killed without a word", async () => {
  const bin = fileURLToPath(new URL("../bin.mjs", import.meta.url));
  const starter = spawn(process.execPath, [bin, "serve", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  // The command holds the other end of this pipe until it has ended.
  const { stdout } = starter;
  await new Promise<void>((resolve) => {
    stdout.once("end", resolve);
    stdout.once("data", () => starter.kill("SIGKILL")).resume();
  });
  expect(starter.signalCode).toBe("SIGKILL");
}, 60_000);
