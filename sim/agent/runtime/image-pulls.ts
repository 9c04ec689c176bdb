/**
 * Sees to it that a container's image is there: pull policies, the registry's rate, pulls one at a time, and waits after
 * failures. Source: the facts, Starting and Restart back-off; texts as recorded.
 */
import type { ImageSpec, PodSandboxConfig } from "../../../wire/cri-messages.ts";
import { noDeadlineMicros } from "../../cri/cri-port.ts";
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import { TokenBucket } from "../client/token-bucket.ts";
import type { Container } from "../pods/pod-types.ts";
import type { PodOptions } from "../ports.ts";
import { kept, later } from "../piece.ts";
import { type Task, wait } from "../task.ts";
import { BackOffs } from "./back-off.ts";
import { type CriCaller, failureWords, pullFailureWords } from "./cri-caller.ts";
import { withDefaultTag } from "./image-names.ts";
import { credentialsFor, noPullSecrets, type PullSecrets, type RegistryCredentials } from "./pull-secrets.ts";

/** What is known for an image, the best first. `done` fires once, at once or later, unless it is cancelled. */
export type CredentialsReader = (image: string, done: (found: readonly RegistryCredentials[]) => void) => Cancel;

export type Ensured =
  | { readonly imageRef: string }
  /** `reason` as the waiting state has it. */
  | { readonly reason: string; readonly message: string };

/** Events about the container that needs the image. */
export type Tell = (type: "Normal" | "Warning", reason: string, message: string) => void;

type PullOptions = Pick<PodOptions, "serializeImagePulls" | "parallelImagePullsMax" | "registryQps" | "registryBurst">;

export class ImagePulls {
  private readonly cri: CriCaller;
  private readonly credentials: CredentialsReader | undefined;
  private readonly clock: Clock;
  private readonly backOffs = new BackOffs();
  /** The last failure, by what waits. */
  private readonly failures = new Map<string, string>();
  private readonly registry: TokenBucket | undefined;
  private readonly pullsMax: number;
  private pulls = 0;
  private readonly queue: (() => void)[] = [];

  /** `credentials`: default: none are known. */
  constructor(cri: CriCaller, options: PullOptions, credentials?: CredentialsReader) {
    this.cri = cri;
    this.credentials = credentials;
    this.clock = cri.process.clock;
    const { registryQps, registryBurst, serializeImagePulls, parallelImagePullsMax } = options;
    this.registry = registryQps > 0 ? new TokenBucket(registryQps, registryBurst, this.clock.nowMicros()) : undefined;
    this.pullsMax = serializeImagePulls ? 1 : (parallelImagePullsMax ?? Infinity);
  }

  *ensure(
    podUid: string,
    container: Container,
    annotations: Readonly<Record<string, string>>,
    sandboxConfig: PodSandboxConfig,
    tell: Tell,
    secrets: PullSecrets = noPullSecrets,
  ): Task<Ensured> {
    const named = withDefaultTag(container.image);
    if ("error" in named) {
      const message = `Failed to apply default image tag ${JSON.stringify(container.image)}: ${named.error}`;
      tell("Warning", "InspectFailed", message);
      return { reason: "InvalidImageName", message };
    }
    const image: ImageSpec = { image: named.name, annotations };
    const policy = container.imagePullPolicy ?? (named.name.endsWith(":latest") ? "Always" : "IfNotPresent");
    if (policy !== "Always") {
      const present = yield* this.present(container.image, image, policy, tell);
      if (present !== undefined) return present;
    }
    const own = credentialsFor(named.name, secrets);
    return yield* this.pull(`${podUid}_${named.name}`, named.name, image, sandboxConfig, tell, own);
  }

  /** Undefined: it has to be pulled. */
  private *present(asked: string, image: ImageSpec, policy: string, tell: Tell): Task<Ensured | undefined> {
    const answer = yield* this.cri.ask("ImageStatus", { image });
    if (!answer.ok) {
      const message = `Failed to inspect image ${JSON.stringify(image.image)}: ${failureWords(answer)}`;
      tell("Warning", "InspectFailed", message);
      return { reason: "ImageInspectError", message };
    }
    const found = answer.message.image;
    if (found !== undefined) {
      tell("Normal", "Pulled", `Container image ${JSON.stringify(asked)} already present on machine`);
      return { imageRef: found.id };
    }
    if (policy !== "Never") return undefined;
    const message = `Container image ${JSON.stringify(asked)} is not present with pull policy of Never`;
    tell("Warning", "ErrImageNeverPull", message);
    return { reason: "ErrImageNeverPull", message };
  }

  private *pull(
    key: string,
    name: string,
    image: ImageSpec,
    sandboxConfig: PodSandboxConfig,
    tell: Tell,
    own: readonly RegistryCredentials[],
  ): Task<Ensured> {
    const quoted = JSON.stringify(name);
    if (this.backOffs.isWaitingSinceUpdate(key, this.clock.nowMicros())) {
      const message = `Back-off pulling image ${quoted}`;
      tell("Normal", "BackOff", message);
      const failure = this.failures.get(key);
      return { reason: "ImagePullBackOff", message: failure === undefined ? message : `${message}: ${failure}` };
    }
    this.failures.delete(key);
    tell("Normal", "Pulling", `Pulling image ${quoted}`);
    const askedMicros = this.clock.nowMicros();
    const result = yield* this.inTurn(image, sandboxConfig, own);
    const nowMicros = this.clock.nowMicros();
    if ("error" in result) {
      tell("Warning", "Failed", `Failed to pull image ${quoted}: ${result.error}`);
      this.backOffs.next(key, nowMicros, nowMicros);
      const failure = pullFailure(name, result.error);
      this.failures.set(key, `${failure.reason}: ${failure.message}`);
      return failure;
    }
    const took = goMillis(nowMicros - result.beganMicros);
    const waited = goMillis(nowMicros - askedMicros);
    const size = `Image size: ${result.sizeBytes} bytes.`;
    tell("Normal", "Pulled", `Successfully pulled image ${quoted} in ${took} (${waited} including waiting). ${size}`);
    return { imageRef: result.imageRef };
  }

  private *inTurn(
    image: ImageSpec,
    sandboxConfig: PodSandboxConfig,
    own: readonly RegistryCredentials[],
  ): Task<{ imageRef: string; sizeBytes: number; beganMicros: Micros } | { error: string }> {
    if (this.pulls < this.pullsMax) this.pulls++;
    else yield* wait<void>((resume) => this.line(resume));
    const beganMicros = this.clock.nowMicros();
    try {
      // The rate is asked when the turn has come, as the published agent has it.
      if (this.registry !== undefined && !this.registry.tryTake(beganMicros)) return { error: "pull QPS exceeded" };
      const pulled = yield* this.pullWith(image, sandboxConfig, own);
      if (!pulled.ok) return { error: pullFailureWords(pulled) };
      const status = yield* this.cri.ask("ImageStatus", { image });
      const sizeBytes = status.ok ? (status.message.image?.size ?? 0) : 0;
      return { imageRef: pulled.message.imageRef, sizeBytes, beganMicros };
    } finally {
      this.leave();
    }
  }

  /** With each of the credentials that are known, the pod's own first, until one will do; without any where none are. */
  private *pullWith(image: ImageSpec, sandboxConfig: PodSandboxConfig, own: readonly RegistryCredentials[]) {
    const { credentials } = this;
    const machines =
      credentials === undefined
        ? []
        : yield* wait<readonly RegistryCredentials[]>((resume) => credentials(image.image ?? "", kept(resume)));
    const known = [...own, ...machines];
    const ask = (auth?: RegistryCredentials) =>
      this.cri.ask("PullImage", { image, ...(auth === undefined ? {} : { auth }), sandboxConfig }, noDeadlineMicros);
    let pulled = yield* ask(known[0]);
    for (let at = 1; at < known.length && !pulled.ok; at++) pulled = yield* ask(known[at]);
    return pulled;
  }

  /** Stands in line for a turn; who leaves after it was given passes it on. */
  private line(resume: () => void): Cancel {
    let given: Cancel | undefined;
    const turn = (): void => {
      given = later(this.cri.process, 0, resume); // in an event of its own: who is next may be anybody's
    };
    this.queue.push(turn);
    return () => {
      const at = this.queue.indexOf(turn);
      if (at >= 0) this.queue.splice(at, 1);
      if (given === undefined) return;
      given();
      this.leave();
    };
  }

  private leave(): void {
    const next = this.queue.shift();
    if (next === undefined) this.pulls--;
    else next();
  }
}

/** As the published agent prints a duration of whole milliseconds: `1.204s`, `85ms`, `2m3.5s`, `0s`. */
function goMillis(micros: Micros): string {
  const millis = Math.floor(micros / 1000);
  if (millis < 1000) return millis === 0 ? "0s" : `${millis}ms`;
  const [minutes, rest] = [Math.floor(millis / 60_000), millis % 60_000];
  const [hours, shownMinutes] = [Math.floor(minutes / 60), minutes % 60];
  const seconds = `${rest / 1000}s`;
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${shownMinutes}m` : ""}${seconds}`;
}

/** What a runtime can say that agents know, and how they tell it. */
const knownFailures = [
  ["RegistryUnavailable", "the registry is unavailable"],
  ["SignatureValidationFailed", "the signature validation failed"],
] as const;

/** Why a container waits whose image was not pulled. Source: the published agent's texts. */
function pullFailure(image: string, error: string): { readonly reason: string; readonly message: string } {
  const known = knownFailures.find(([name]) => error.startsWith(name));
  if (known === undefined) return { reason: "ErrImagePull", message: error };
  const [reason, words] = known;
  return { reason, message: `image pull failed for ${image} because ${words}${error.slice(reason.length)}` };
}
