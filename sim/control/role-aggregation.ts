/**
 * Gives each ClusterRole that collects others the rules of those that its selectors choose, and applies `rules` as their
 * one owner.
 *
 * Source: the published controller: roles in the order of their names, selector by selector, each rule once, never
 * the role itself; what a person writes into the rules of such a role is overwritten.
 */
import { encodeJson, compareBytes } from "../../wire/go-strings.ts";
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import { patchMediaTypes } from "../../wire/media-types.ts";
import { isSelectorError, parseLabelSelector } from "../../wire/selectors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { selectorText } from "../objects/selector-text.ts";
import { noteLarge, valuesMax } from "../objects/value-limit.ts";
import type { ControlClient } from "../client/control-client.ts";
import { kept } from "../client/item-scope.ts";
import type { Reflectors } from "../client/reflectors.ts";
import { type Outcome, WorkQueue } from "../client/work-queue.ts";

export interface RoleAggregationOptions {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly dialect: Dialect;
}

const manager = "clusterrole-aggregation-controller";

export class RoleAggregation {
  private readonly client: ControlClient;
  private readonly reflectors: Reflectors;
  private readonly apiVersion: string;
  private readonly collection: string;
  private readonly queue: WorkQueue<string>;
  private readonly roles = new Map<string, JsonObject>();

  constructor({ client, reflectors, dialect }: RoleAggregationOptions) {
    this.client = client;
    this.reflectors = reflectors;
    this.apiVersion = `${groupInDialect(dialect, "rbac.authorization.svc.io")}/v1`;
    this.collection = `/apis/${this.apiVersion}/clusterroles`;
    this.queue = new WorkQueue({
      process: client.process,
      count: client.queueCounts.of("ClusterRoleAggregator"),
      work: (name, done) => this.settle(name, done),
    });
  }

  start(): void {
    this.reflectors.follow(this.collection, {
      replaced: (all) => {
        this.roles.clear();
        for (const role of all) this.roles.set(nameOf(role), role);
        this.lookAtAll();
      },
      changed: (role) => {
        this.roles.set(nameOf(role), role);
        this.lookAtAll();
      },
      gone: (role) => {
        this.roles.delete(nameOf(role));
        this.lookAtAll();
      },
    });
    this.reflectors.onceSynced(() => this.queue.open());
  }

  /** Any role may be one that another collects. */
  private lookAtAll(): void {
    const collectors = [...this.roles.values()].filter((role) => role["aggregationRule"] !== undefined);
    for (const name of collectors.map(nameOf).sort(compareBytes)) this.queue.add(name);
  }

  private settle(name: string, done: (outcome: Outcome) => void): void {
    const role = this.roles.get(name);
    if (role === undefined) done("done");
    else this.collect(name, role, neededRules(role, this.roles), done);
  }

  private collect(
    name: string,
    role: JsonObject,
    steps: ReturnType<typeof neededRules>,
    done: (outcome: Outcome) => void,
  ): void {
    const step = steps.next();
    if (step.done !== true) {
      const goOn = kept(() => this.collect(name, role, steps, done));
      this.client.process.clock.after(0, goOn);
      return;
    }
    const rules = step.value;
    if (rules === undefined) {
      done("done");
      return;
    }
    if (rules === "too many") {
      done("again");
      return;
    }
    const body: JsonObject = { apiVersion: this.apiVersion, kind: "ClusterRole", metadata: { name }, rules };
    noteLarge(body);
    const request = {
      method: "PATCH",
      path: `${this.collection}/${name}`,
      query: `fieldManager=${manager}&force=true`,
      contentType: patchMediaTypes.apply,
      body,
    };
    this.client.call(request, ({ status }) => done(status < 300 && status !== 0 ? "done" : "again"));
  }
}

/** So many roles are held against selectors, or rules and what they name taken, before others have their turn. */
const stepsPerTurn = 50_000;

/** The rules that a role is to be given; undefined where it has them, or collects none. */
function* neededRules(
  role: JsonObject,
  all: ReadonlyMap<string, JsonObject>,
): Generator<void, readonly Json[] | "too many" | undefined, void> {
  const rules = yield* collectedRules(role, all);
  if (rules === undefined || rules === "too many") return rules;
  const present = (role["rules"] ?? []) as readonly Json[];
  const isLong = sizeOf(rules) + sizeOf(present) > stepsPerTurn;
  if (isLong) yield;
  const wanted = encodeJson(rules);
  if (isLong) yield;
  return wanted === encodeJson(present) ? undefined : rules;
}

/** Values in a rule: its members, and what they list. */
const ruleSize = (rule: Json): number =>
  Object.values(rule as JsonObject).reduce<number>((sum, list) => sum + 1 + (Array.isArray(list) ? list.length : 0), 1);

const sizeOf = (rules: readonly Json[]): number => rules.reduce<number>((sum, rule) => sum + ruleSize(rule), 0);

/**
 * The rules of a role that collects others; undefined for one that does not, and "too many" where no object may have so many
 * values. In turns: its selectors, the roles and their rules are as many as their writers like.
 */
export function* collectedRules(
  role: JsonObject,
  all: ReadonlyMap<string, JsonObject>,
): Generator<void, readonly Json[] | "too many" | undefined, void> {
  const aggregation = role["aggregationRule"] as JsonObject | undefined;
  if (aggregation === undefined) return undefined;
  const rules = new Map<string, Json>();
  let others = sorted(all).filter((other) => nameOf(other) !== nameOf(role));
  let steps = 0;
  let valueCount = 0;
  for (const selector of (aggregation["clusterRoleSelectors"] ?? []) as readonly JsonObject[]) {
    steps += others.length + 1;
    const parsed = parseLabelSelector(selectorText(selector));
    const chosen = isSelectorError(parsed) ? [] : others.filter((other) => parsed.matches(metadataOf(other).labels));
    for (const other of chosen) {
      const own = (other["rules"] ?? []) as readonly Json[];
      for (const rule of own) {
        const size = ruleSize(rule);
        const text = encodeJson(rule);
        if (!rules.has(text)) valueCount += size;
        if (valueCount > valuesMax) return "too many";
        rules.set(text, rule);
        steps += size;
        if (steps > stepsPerTurn) {
          steps = 0;
          yield;
        }
      }
    }
    if (steps > stepsPerTurn) {
      steps = 0;
      yield;
    }
    // Whose rules are there already has no more to give.
    const taken = new Set(chosen);
    if (taken.size > 0) others = others.filter((other) => !taken.has(other));
  }
  return [...rules.values()];
}

const nameOf = (role: JsonObject): string => metadataOf(role).name ?? "";

const sorted = (roles: ReadonlyMap<string, JsonObject>): readonly JsonObject[] =>
  [...roles.values()].sort((left, right) => compareBytes(nameOf(left), nameOf(right)));
