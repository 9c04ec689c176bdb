/** A run told line by line while it goes on: into a file, to stdout, or both. */
import process from "node:process";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { exitCodeFor, gateOf } from "../../reports/gate/gate.ts";
import { type SuiteEvent, type SuiteEventBody, suiteEventVersion } from "../../reports/schema/suite-event.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { lineFile } from "./line-file.ts";

export interface EventLog {
  tell(event: SuiteEventBody): void;
  progress(progress: SuiteProgress): void;
  /** The last line. */
  end(report: SuiteReport): void;
  /** Whether the file has all that was told. */
  readonly isWhole: boolean;
  close(): void;
}

/** `file` undefined and `print` false: tells nobody. Each line is written whole and at once; `failed` is told once why that ends. */
export function eventLog(options: {
  readonly file: string | undefined;
  readonly print: boolean;
  readonly failed: (why: string) => void;
}): EventLog {
  const file = options.file === undefined ? undefined : lineFile(options.file, "--events", options.failed);
  let sequence = 0;
  const tell = (body: SuiteEventBody): void => {
    const event: SuiteEvent = {
      apiVersion: suiteEventVersion,
      kind: "SuiteEvent",
      sequence,
      at: new Date().toISOString(),
      ...body,
    };
    sequence++;
    const line = `${JSON.stringify(event)}\n`;
    file?.write(line);
    if (options.print) process.stdout.write(line);
  };
  return {
    tell,
    progress({ kind, ...fields }) {
      if (kind !== "program-ended") tell({ type: kind, ...fields } as SuiteEventBody);
    },
    end(report) {
      const { conclusion, complete, totals } = report;
      tell({ type: "ended", conclusion, gate: gateOf(report), complete, exitCode: exitCodeFor(report), totals });
    },
    get isWhole() {
      return file?.isWhole ?? true;
    },
    close: () => file?.close(),
  };
}
