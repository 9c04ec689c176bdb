/** For tests: what a command says and ends with, in this process. Faster than a process of its own, which loads everything. */
import { agent } from "./commands/agent.ts";
import { anyCommand } from "./any-command.ts";
import { explain } from "./explain.ts";

export interface SaidHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Exited extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** From any command line to its exit code, errors explained as `main.ts` does it. One at a time: both streams are there once. */
export async function saidHere(...args: readonly string[]): Promise<SaidHere> {
  const stdout = heard(process.stdout);
  const stderr = heard(process.stderr);
  const exit = (code: number): never => {
    throw new Exited(code);
  };
  const [first, ...rest] = args;
  try {
    const code = await (first === "agent" ? agent(rest) : anyCommand(args, exit)).catch((error: unknown) =>
      error instanceof Exited ? error.code : explain(error),
    );
    return { code, stdout: stdout.end(), stderr: stderr.end() };
  } finally {
    stdout.end();
    stderr.end();
  }
}

function heard(stream: NodeJS.WriteStream): { readonly end: () => string } {
  const { write } = stream;
  let text = "";
  stream.write = (chunk: string | Uint8Array) => {
    text += String(chunk);
    return true;
  };
  return {
    end() {
      stream.write = write;
      return text;
    },
  };
}
