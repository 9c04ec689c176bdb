/**
 * Keeps the status of PodDisruptionBudgets: how many of their pods are healthy, how many must be, and how many may be
 * disrupted. The eviction subresource spends what is written here.
 * Source: the published disruption controller.
 */
import { isSelectorError, type LabelSelector, parseLabelSelector } from "../../../wire/selectors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { metadataOf } from "../../contract/objects.ts";
import { selectorText } from "../../objects/selector-text.ts";
import type { ApiTypes } from "../api-types.ts";
import type { ControlClient } from "../../client/control-client.ts";
import { EventRecorder, unixSeconds } from "../event-recorder.ts";
import type { Reflectors } from "../../client/reflectors.ts";
import { type Outcome, WorkQueue } from "../../client/work-queue.ts";
import {
  BadBudget,
  type Expectation,
  expectationOf,
  failSafe,
  needsScale,
  outlook,
} from "../../kinds/policy/budget.ts";
import { Scales } from "./scales.ts";

export interface DisruptionControllerOptions {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly types: ApiTypes;
}

/** A budget as it was last heard of. */
interface Known {
  readonly object: JsonObject;
  /** Undefined selects nothing. */
  readonly selector: LabelSelector | undefined;
  /** The same as a query has it. */
  readonly selectorText: string;
  /** Names of the pods that were counted last. */
  counted: ReadonlySet<string>;
}

type Done = (outcome: Outcome) => void;

const apiVersion = "policy/v1";

/** Each reads all pods of its namespace. */
const budgetsPerTurn = 10;

export class DisruptionController {
  private readonly client: ControlClient;
  private readonly reflectors: Reflectors;
  private readonly scales: Scales;
  private readonly events: EventRecorder;
  private readonly queue: WorkQueue<string>;
  /** By namespace, then by name. */
  private readonly budgets = new Map<string, Map<string, Known>>();

  constructor({ client, reflectors, types }: DisruptionControllerOptions) {
    this.client = client;
    this.reflectors = reflectors;
    this.scales = new Scales(client, types);
    this.events = new EventRecorder(client, "controllermanager");
    this.queue = new WorkQueue({
      process: client.process,
      count: client.queueCounts.of("disruption"),
      turnItemsMax: budgetsPerTurn,
      work: (key, done) => this.sync(key, done),
    });
  }

  start(): void {
    this.reflectors.follow(`/apis/${apiVersion}/poddisruptionbudgets`, {
      replaced: (objects) => {
        this.budgets.clear();
        for (const object of objects) this.learn(object);
      },
      changed: (object) => this.learn(object),
      gone: (object) => this.forget(object),
    });
    this.reflectors.follow("/api/v1/pods", {
      replaced: () => {
        for (const [namespace, named] of this.budgets) for (const name of named.keys()) this.look(namespace, name);
      },
      changed: (pod) => this.hearOfPod(pod),
      gone: (pod) => this.hearOfPod(pod),
    });
    this.reflectors.onceSynced(() => this.queue.open());
  }

  private learn(object: JsonObject): void {
    const { namespace = "", name = "" } = metadataOf(object);
    let named = this.budgets.get(namespace);
    if (named === undefined) this.budgets.set(namespace, (named = new Map()));
    const counted = named.get(name)?.counted ?? new Set();
    named.set(name, { object, ...selectorOf(object), counted });
    this.look(namespace, name);
  }

  private forget(object: JsonObject): void {
    const { namespace = "", name = "" } = metadataOf(object);
    const named = this.budgets.get(namespace);
    named?.delete(name);
    if (named?.size === 0) this.budgets.delete(namespace);
    this.queue.drop(`${namespace}/${name}`);
  }

  /** Budgets that cover the pod, and those that did. */
  private hearOfPod(pod: JsonObject): void {
    const { namespace = "", name: podName = "", labels } = metadataOf(pod);
    const named = this.budgets.get(namespace);
    if (named === undefined) return;
    for (const [name, { selector, counted }] of named) {
      if (counted.has(podName) || selector?.matches(labels) === true) this.look(namespace, name);
    }
  }

  private look(namespace: string, name: string): void {
    this.queue.add(`${namespace}/${name}`);
  }

  /** 1. Its pods. 2. How many there should be. 3. Its status. */
  private sync(key: string, done: Done): void {
    const [namespace = "", name = ""] = key.split("/");
    const known = this.budgets.get(namespace)?.get(name);
    if (known === undefined) {
      done("done");
      return;
    }
    this.podsOf(known, namespace, (pods) => {
      if (pods === undefined) {
        done("again");
        return;
      }
      known.counted = new Set(pods.map((pod) => metadataOf(pod).name ?? ""));
      if (pods.length === 0) this.tellOfBudget(known.object, "Normal", "NoPods", "No matching pods found");
      this.expect(known.object, pods, (expectation) => {
        if (expectation === "later") done("again");
        else if ("problem" in expectation) this.fail(known.object, expectation.problem, done);
        else this.settle(key, known.object, pods, expectation, done);
      });
    });
  }

  /** Undefined when they could not be read. */
  private podsOf(
    { selector, selectorText: text }: Known,
    namespace: string,
    done: (pods: readonly JsonObject[] | undefined) => void,
  ): void {
    if (selector === undefined) {
      done([]);
      return;
    }
    const query = text === "" ? "" : `labelSelector=${encodeURIComponent(text)}`;
    this.client.call(
      { method: "GET", path: `/api/v1/namespaces/${namespace}/pods`, query },
      ({ status, object: list }) =>
        done(status === 200 ? ((list?.["items"] ?? []) as readonly JsonObject[]) : undefined),
    );
  }

  private expect(
    budget: JsonObject,
    pods: readonly JsonObject[],
    done: (expectation: Expectation | { readonly problem: string } | "later") => void,
  ): void {
    const spec = specOf(budget);
    const reckon = (scale: number): void => {
      let expectation: Expectation | { readonly problem: string };
      try {
        expectation = expectationOf(spec, pods.length, scale);
      } catch (error) {
        if (!(error instanceof BadBudget)) throw error;
        expectation = { problem: error.message };
      }
      done(expectation);
    };
    if (!needsScale(spec)) {
      reckon(0);
      return;
    }
    this.scales.sum(pods, (answer) => {
      if (answer === "later" || "problem" in answer) done(answer);
      else reckon(answer.scale);
    });
  }

  private settle(
    key: string,
    budget: JsonObject,
    pods: readonly JsonObject[],
    expectation: Expectation,
    done: Done,
  ): void {
    const { clock } = this.client.process;
    const { status, recheckSeconds, overdue } = outlook(budget, pods, expectation, unixSeconds(clock));
    const { namespace = "", name = "" } = metadataOf(budget);
    for (const pod of overdue) {
      const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`;
      this.tell("v1", "Pod", pod, "Warning", "NotDeleted", message);
    }
    if (recheckSeconds !== undefined) this.queue.addAfter(key, recheckSeconds * 1_000_000);
    this.write(budget, status, done);
  }

  /** It is told why, nothing is allowed, and it is tried again. */
  private fail(budget: JsonObject, problem: string, done: Done): void {
    const message = `Failed to calculate the number of expected pods: ${problem}`;
    this.tellOfBudget(budget, "Warning", "CalculateExpectedPodCountFailed", message);
    const status = failSafe(budget, problem, unixSeconds(this.client.process.clock));
    this.write(budget, status, () => done("again"));
  }

  /** Whoever was faster is heard of, and then it is looked at again. */
  private write(budget: JsonObject, status: JsonObject, done: Done): void {
    if (jsonEqual(budget["status"], status)) {
      done("done");
      return;
    }
    const { namespace = "", name = "" } = metadataOf(budget);
    const path = `/apis/${apiVersion}/namespaces/${namespace}/poddisruptionbudgets/${name}/status`;
    const { disruptionsAllowed, currentHealthy, desiredHealthy } = status as Record<string, number>;
    this.client.process.trace(
      "budget",
      `${namespace}/${name}`,
      disruptionsAllowed,
      `${currentHealthy}/${desiredHealthy}`,
    );
    const body = { ...budget, apiVersion, kind: "PodDisruptionBudget", status };
    this.client.call({ method: "PUT", path, body }, (answer) => {
      done((answer.status >= 200 && answer.status < 300) || answer.status === 404 ? "done" : "again");
    });
  }

  private tellOfBudget(budget: JsonObject, ...words: ["Normal" | "Warning", string, string]): void {
    this.tell(apiVersion, "PodDisruptionBudget", budget, ...words);
  }

  private tell(
    version: string,
    kind: string,
    object: JsonObject,
    ...[type, reason, message]: ["Normal" | "Warning", string, string]
  ): void {
    const { namespace = "", name = "", uid = "" } = metadataOf(object);
    this.events.tell({ apiVersion: version, kind, namespace, name, uid }, type, reason, message);
  }
}

function specOf(budget: JsonObject): JsonObject {
  return (budget["spec"] ?? {}) as JsonObject;
}

/** None selects nothing, an empty one everything. */
function selectorOf(budget: JsonObject): Pick<Known, "selector" | "selectorText"> {
  const selector = specOf(budget)["selector"] as JsonObject | undefined;
  if (selector === undefined) return { selector, selectorText: "" };
  const text = selectorText(selector);
  const parsed = parseLabelSelector(text);
  return { selector: isSelectorError(parsed) ? undefined : parsed, selectorText: text };
}
