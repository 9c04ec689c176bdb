import type { NodeHost } from "../../wire/node-host.ts";
import type { SuiteClock, WebhookHost } from "../../wire/ports.ts";
import { awayMillis, busyMillis, type Client, isOfGateway, retryWaitMillisMax } from "../client/client.ts";
import type { Collection } from "../client/collection.ts";
import { objectOf } from "../client/collection.ts";
import { endWhereUnserved } from "../client/optional-verbs.ts";
import type { Exchange } from "../client/exchange.ts";
import { type ApiObject, isJsonObject, type WatchEvent } from "../client/types.ts";
import type { WatchStream } from "../client/watch-stream.ts";
import { CheckFailure, HistoryExpired, Inconclusive, type Violation } from "../client/findings.ts";
import { clockSkewMillis } from "../model/clock-skew.ts";
import type { SuiteProfile } from "../profiles/profile.ts";
import type { Features } from "./features.ts";
import type { ReviewDesk } from "./review-desk.ts";
import type { Sandbox } from "./sandbox.ts";
import type { TokenDesk } from "./token-desk.ts";

/** What was judged in the runs of a check. A requirement that no run got to judge is not proven by it. */
export class JudgedRequirements {
  readonly judged = new Set<string>();
  readonly deviationsOccurred = new Set<string>();
  readonly deviationsKept = new Set<string>(); // the promise held although the profile says that it does not
}

/** What the suite stands for in the target's configuration files. */
export interface AccessDesks {
  readonly tokens: TokenDesk | undefined;
  readonly reviews: ReviewDesk | undefined;
}

/** All that a check may touch while it runs one program. */
export class Attempt {
  readonly client: Client;
  readonly target: Sandbox;
  readonly profile: SuiteProfile;
  readonly features: Features;
  /** Undefined: the target cannot reach the suite. */
  readonly webhooks: WebhookHost | undefined;
  /** Undefined: no agent is bound that would run nodes of the suite. */
  readonly nodes: NodeHost | undefined;
  readonly access: AccessDesks;
  private readonly results: JudgedRequirements;
  private readonly startedMillis: number;
  /** When the version that a watch begins at was given out at the earliest. */
  private readonly givenMillis = new WeakMap<WatchStream, number>();
  /** What the program may still let pass for time's own sake: nobody waits for an hour of a real clock. */
  private passMillisLeft: number;
  private markerCount = 0;

  constructor(
    client: Client,
    target: Sandbox,
    profile: SuiteProfile,
    features: Features,
    results: JudgedRequirements,
    webhooks?: WebhookHost,
    nodes?: NodeHost,
    passMillisLeft: number = Number.POSITIVE_INFINITY,
    access: AccessDesks = { tokens: undefined, reviews: undefined },
  ) {
    this.passMillisLeft = passMillisLeft;
    this.webhooks = webhooks;
    this.nodes = nodes;
    this.access = access;
    this.client = client;
    this.target = target;
    this.profile = profile;
    this.features = features;
    this.results = results;
    this.startedMillis = client.clock.nowMillis();
  }

  get clock(): SuiteClock {
    return this.client.clock;
  }

  /** How far apart the clocks of the target's servers are known to be. */
  get clockSkewMillis(): number {
    return clockSkewMillis(this.client.recorder.all());
  }

  /**
   * How much two times of the target's servers may differ for the sake of their clocks: up to two seconds more than is
   * known from dates in whole seconds, and one for the times themselves, which are cut off as well.
   */
  get clockLeewayMillis(): number {
    const known = this.clockSkewMillis;
    return known === 0 ? 0 : known + 3000;
  }

  /** Time passes: as much as is asked for where that costs nothing, and a second or so by a real clock. */
  async letPass(millis: number): Promise<void> {
    const pauseMillis = Math.min(millis, this.passMillisLeft);
    this.passMillisLeft -= pauseMillis;
    if (pauseMillis > 0) await this.client.pause(pauseMillis);
  }

  /** Judges one requirement: a violation ends the run, none counts as proof. */
  holds(requirement: string, violation: Violation | undefined): void {
    this.results.judged.add(requirement);
    if (violation === undefined) return;
    const last = this.client.recorder.last();
    if (last !== undefined && isRefusedCaller(last)) {
      throw new Inconclusive(
        `the credentials are not accepted: ${last.request.method} ${last.request.path} answers 401`,
      );
    }
    throw new CheckFailure(requirement, violation, last);
  }

  expect(requirement: string, condition: boolean, expected: string, actual: string): void {
    this.holds(requirement, condition ? undefined : { expected, actual });
  }

  /**
   * Judges a requirement from which the profile may declare a deviation. Undeclared, the promise must hold. Declared,
   * the deviation is noted when it is seen, and so is its absence: at the end, a declaration that never occurred is stale.
   */
  holdsOrDeviates(deviation: string, requirement: string, promise: Violation | undefined, deviates: boolean): void {
    const declared = this.profile.deviations.some((row) => row.name === deviation);
    if (declared && deviates) {
      this.results.deviationsOccurred.add(deviation);
      return;
    }
    if (declared && promise === undefined) this.results.deviationsKept.add(deviation);
    this.holds(requirement, promise);
  }

  /** Writes an object that only serves to be seen: on an ordered stream, what has not come before it will not come. */
  async fence(collection: Collection, labels: Readonly<Record<string, string>> = {}): Promise<ApiObject> {
    this.markerCount += 1;
    const name = `zz-fence-${this.markerCount}`;
    const shown = this.client.recorder.last();
    const fence = objectOf(
      await collection.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } }),
    );
    if (shown !== undefined) this.client.recorder.returnTo(shown); // a fence shows nothing
    return fence;
  }

  /**
   * The events of a watch up to the fence's, without it. No deadline is promised, so silence is inconclusive; a stream
   * that ends first has broken its promise only if the caller says so.
   */
  async untilFence(watch: WatchStream, fence: ApiObject): Promise<WatchEvent[]> {
    const isFence = (event: WatchEvent) => isEventOf(event, fence);
    const arrived = () => watch.events.some(isFence);
    await watch.until(() => arrived() || goneOf(watch) !== undefined, fenceTimeoutMillis);
    if (!arrived()) {
      const gone = goneOf(watch);
      if (gone !== undefined) await this.judgeGone(watch, JSON.stringify(gone.object));
      const why = watch.ended === undefined ? `within ${fenceTimeoutMillis} ms` : `before the watch was ${watch.ended}`;
      throw new Inconclusive(`no event for ${fence.metadata.name} ${why} on GET ${watch.exchange.request.path}`);
    }
    this.isShownBy(watch);
    return watch.events.slice(0, watch.events.findIndex(isFence));
  }

  /** What is judged next is about this stream, whatever was asked since it began. */
  isShownBy(watch: WatchStream): void {
    this.client.recorder.returnTo(watch.exchange);
  }

  /**
   * A watch that must be accepted. Its version was given out not before `givenMillis`, a time of the suite's clock;
   * by default when the attempt began.
   */
  async openWatch(
    collection: Collection,
    query: Parameters<Collection["watch"]>[0] = {},
    givenMillis: number = this.startedMillis,
  ): Promise<WatchStream> {
    const watch = await this.answeredWatch(() => collection.watch(query));
    this.givenMillis.set(watch, givenMillis);
    const { status } = watch;
    if (status === 401 || status === 403)
      throw new Inconclusive(`the credentials do not allow to watch ${collection.path}`);
    if (status !== undefined && status !== 200) await watch.untilEnded(refusalTimeoutMillis); // its body is evidence
    const actual = status === undefined ? "no response in 30 s" : `${status} ${JSON.stringify(watch.refusal())}`;
    if (status === 405) await endWhereUnserved(this.client, watch.exchange);
    if (status === 410) await this.judgeGone(watch, actual);
    const expected = `GET ${watch.exchange.request.path} begins a watch`;
    this.holds("watch.stream", status === 200 ? undefined : { expected, actual });
    return watch;
  }

  /** A watch once it is answered, however: asked for again while the target is too busy, and when it was not reached. */
  async answeredWatch(open: () => WatchStream): Promise<WatchStream> {
    for (let waitedMillis = 0, tries = 0; ; tries += 1) {
      const watch = open();
      const head = { status: (await this.headOf(watch)) ?? 0, headers: watch.headers };
      const waitMillis = busyMillis(head) ?? awayMillis(head, tries);
      if (waitMillis === undefined || waitedMillis + waitMillis > retryWaitMillisMax) {
        this.requireAnswer(watch);
        return watch;
      }
      watch.close();
      waitedMillis += waitMillis;
      await this.client.pause(waitMillis);
    }
  }

  /** How a watch was answered; undefined when the target kept silent. A connection that broke first says nothing. */
  async statusOf(watch: WatchStream): Promise<number | undefined> {
    const status = await this.headOf(watch);
    this.requireAnswer(watch);
    return status;
  }

  private async headOf(watch: WatchStream): Promise<number | undefined> {
    const status = await watch.opened();
    if (status !== undefined || watch.ended !== "broken") return status;
    throw new Inconclusive(`no answer to GET ${watch.exchange.request.path}: ${watch.exchange.lost}`);
  }

  /** That it is too busy, or not to be reached, is no answer to the question. */
  private requireAnswer({ status = 0, headers, exchange }: WatchStream): void {
    if (busyMillis({ status, headers }) === undefined && !isOfGateway({ status, headers })) return;
    throw new Inconclusive(`no answer to GET ${exchange.request.path}: only ${status}, by whoever stands before it`);
  }

  /**
   * A watch was answered 410. How long history lasts is the server's to say, so a version that has been held for long
   * may be gone; but to list and then watch from there must be possible for whoever does it at once.
   */
  private async judgeGone(watch: WatchStream, actual: string): Promise<void> {
    const { path } = watch.exchange.request;
    const version = new URLSearchParams(path.slice(path.indexOf("?"))).get("resourceVersion") ?? "";
    const heldMillis =
      (watch.exchange.endedAtMillis ?? this.clock.nowMillis()) - (this.givenMillis.get(watch) ?? this.startedMillis);
    if (version !== "" && version !== "0" && heldMillis >= heldMillisMin) {
      const message = `version ${version} was forgotten within ${Math.ceil(heldMillis)} ms, before GET ${path} could begin: the run was too slow for the history that the target keeps`;
      const expected = `GET ${path} begins a watch, as it does from another version that old`;
      const isServed = await this.isServedWhenOld(watch, Math.min(heldMillis, agedMillisMax));
      const failure = new CheckFailure("watch.stream", { expected, actual }, watch.exchange);
      throw new HistoryExpired(message, isServed && heldMillis < brieflyMillis ? failure : undefined);
    }
    const expected = `GET ${path} begins a watch, its version not ${heldMillisMin} ms old`;
    this.holds("watch.stream", { expected, actual });
  }

  /** Whether the collection can be watched from another version once it is that old: then the one asked for was dead. */
  private async isServedWhenOld(gone: WatchStream, ageMillis: number): Promise<boolean> {
    const [path = "", query = ""] = gone.exchange.request.path.split("?");
    const list = await this.client.request("GET", path);
    const metadata = isJsonObject(list.json) ? list.json["metadata"] : undefined;
    const resourceVersion = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
    if (list.status !== 200 || typeof resourceVersion !== "string") return false;
    await this.client.pause(ageMillis);
    const again = this.client.watch(path, {
      ...Object.fromEntries(new URLSearchParams(query)),
      resourceVersion,
      timeoutSeconds: 1,
    });
    const status = await again.opened(refusalTimeoutMillis);
    await again.until(() => again.events.length > 0, 500);
    const isServed = status === 200 && goneOf(again) === undefined;
    again.close();
    this.client.recorder.returnTo(gone.exchange);
    return isServed;
  }
}

/** The run's own credentials are refused: they have ended, or never were any. Others' are refused on purpose. */
const isRefusedCaller = ({ status, request }: Exchange): boolean => status === 401 && request.as === undefined;

/** Below this, a 410 is no matter of how long history lasts: nobody could list and then watch. */
const heldMillisMin = 1000;
const refusalTimeoutMillis = 10_000;
const agedMillisMax = 10_000;

/** Any history lasts so long. In a quiet target the newest version never goes, so that one of more age shows nothing. */
const brieflyMillis = 1_000;
const fenceTimeoutMillis = 10_000;

/** The 410 with which a watch was refused after it had been accepted, before any event. */
function goneOf({ events: [first] }: WatchStream): WatchEvent | undefined {
  return first?.type === "ERROR" && first.object["code"] === 410 ? first : undefined;
}

function isEventOf(event: WatchEvent, object: ApiObject): boolean {
  const metadata = event.object["metadata"] as ApiObject["metadata"] | undefined;
  return metadata?.name === object.metadata.name && metadata.uid === object.metadata.uid;
}
