/** A run told line by line while it goes on: into a file, to stdout, or both. */
import { closeSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { exitCodeFor, gateOf } from "../../reports/gate/gate.ts";
import { type SuiteEvent, type SuiteEventBody, suiteEventVersion } from "../../reports/schema/suite-event.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";

export interface EventLog {
  tell(event: SuiteEventBody): void;
  progress(progress: SuiteProgress): void;
  /** The last line. */
  end(report: SuiteReport): void;
  close(): void;
}

/** `file` undefined and `print` false: tells nobody. Each line is written whole and at once. */
export function eventLog(options: { readonly file: string | undefined; readonly print: boolean }): EventLog {
  const descriptor = options.file === undefined ? undefined : openSync(options.file, "w");
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
    if (descriptor !== undefined) writeSync(descriptor, line);
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
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
