/**
 * Puts objects into a cluster that has just started, in whatever order they come: what cannot be made yet, since its
 * definition, its namespace or something else is missing, is tried again after the others. What is there already is left
 * as it is.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { ControlClient } from "../client/control-client.ts";
import { Reflectors } from "../client/reflectors.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { ApiTypes, pathOf } from "../control/api-types.ts";
import { call, isGood, runSteps, type Steps } from "../control/shared/steps.ts";
import type { Micros, Process } from "../kernel/types.ts";

export interface SeedObject {
  readonly object: JsonObject;
  /** For errors: the file and the number of the document. */
  readonly where: string;
}

export interface SeedResult {
  readonly made: number;
  readonly present: number;
  /** One a line: where, and why not. */
  readonly problems: readonly string[];
}

/** Without progress for so long, what is left will not work out. */
const patienceMicros: Micros = 10_000_000;
const pauseMicros: Micros = 100_000;

export function seed(
  process: Process,
  server: ApiHandler,
  dialect: Dialect,
  objects: readonly SeedObject[],
  done: (result: SeedResult) => void,
): void {
  const client = new ControlClient({ process, server, dialect, account: "seed" });
  const reflectors = new Reflectors(client);
  const types = new ApiTypes(client, reflectors, dialect);
  let made = 0;
  let present = 0;
  let sinceMicros = process.clock.nowMicros();
  const round = (left: readonly SeedObject[]): void => {
    const failed: (Failure & { readonly seed: SeedObject })[] = [];
    const tryNext = (at: number): void => {
      const next = left[at];
      if (next === undefined) {
        ended(failed);
        return;
      }
      runSteps(client, create(types, next.object), (outcome) => {
        if (outcome === "made") made++;
        else if (outcome === "present") present++;
        else failed.push({ seed: next, ...outcome });
        process.clock.after(0, () => tryNext(at + 1));
      });
    };
    const ended = (failures: typeof failed): void => {
      const now = process.clock.nowMicros();
      const isBetter = failures.length < left.length;
      if (isBetter) sinceMicros = now;
      const mayHelp = isBetter || failures.some(({ isFinal }) => !isFinal);
      if (failures.length > 0 && mayHelp && now - sinceMicros < patienceMicros) {
        process.clock.after(pauseMicros, () => round(failures.map((failure) => failure.seed)));
        return;
      }
      const problems = failures.map((failure) => `${failure.seed.where}: ${failure.why}`);
      process.crash(); // nothing of it is needed any more
      done({ made, present, problems });
    };
    tryNext(0);
  };
  types.start(() => {
    reflectors.start();
    round(objects);
  });
}

interface Failure {
  readonly why: string;
  /** The server says that the object itself is wrong: once nothing else gets further, it will not either. */
  readonly isFinal: boolean;
}

type Outcome = "made" | "present" | Failure;

/** What the server says of an object that is wrong or too large. */
const finalStatuses: ReadonlySet<number> = new Set([400, 413, 422]);

function* create(types: ApiTypes, object: JsonObject): Steps<Outcome> {
  const { apiVersion, kind, status } = object;
  const type = types.ofKind(String(apiVersion), String(kind));
  if (type === undefined)
    return { why: `the server has no kind ${String(kind)} in ${String(apiVersion)}`, isFinal: false };
  const { namespace = "default", name = "" } = metadataOf(object);
  const answer = yield* call({ method: "POST", path: pathOf(type, namespace, ""), body: object });
  if (answer.status === 409 && answer.object?.["reason"] === "AlreadyExists") return "present";
  if (!isGood(answer)) {
    const why = String(answer.object?.["message"] ?? `status ${answer.status}`);
    return { why, isFinal: finalStatuses.has(answer.status) };
  }
  if (status === undefined || name === "") return "made";
  const contentType = "application/merge-patch+json";
  const path = `${pathOf(type, namespace, name)}/status`;
  const said = yield* call({ method: "PATCH", path, contentType, body: { status } });
  return isGood(said) || said.status === 404 || said.status === 405
    ? "made"
    : { why: `its status: ${String(said.object?.["message"])}`, isFinal: finalStatuses.has(said.status) };
}
