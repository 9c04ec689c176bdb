/** Makes and deletes the pods of a controller, and leaves events about it. Source: the published controllers' pod control. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { ClientRequest } from "../../client/api-client.ts";
import type { ControlAnswer, ControlClient } from "../../client/control-client.ts";
import { EventRecorder } from "../event-recorder.ts";
import {
  collectionOf,
  controllerReference,
  type KindRow,
  messageOf,
  isOfTerminatingNamespace,
  pathTo,
  podRow,
  subjectOf,
} from "../shared/controller.ts";
import { bodyOf } from "../shared/informers.ts";
import { callAll, isGood, type Steps } from "../shared/steps.ts";
import type { Pod, PodTemplate, Stored } from "../shared/stored.ts";

/** What is added to a template's pod. Without a name it is generated from its owner's. */
export interface PodShape {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: JsonObject;
}

/** How many came to be and the first refusal. `of` those that were asked for, the rest was not tried or refused. */
export interface Created {
  readonly count: number;
  readonly refused: ControlAnswer | undefined;
}

export class PodControl {
  readonly events: EventRecorder;
  private readonly row: KindRow;

  constructor(client: ControlClient, component: string, row: KindRow) {
    this.events = new EventRecorder(client, component);
    this.row = row;
  }

  /** Ever more at once, as long as none is refused. */
  *createMany(owner: Stored, template: PodTemplate, shapes: readonly PodShape[]): Steps<Created> {
    let count = 0;
    for (let at = 0, batch = 1; at < shapes.length; at += batch, batch = Math.min(2 * batch, shapes.length - at)) {
      const requests = shapes.slice(at, at + batch).map((shape) => this.creation(owner, template, shape));
      const answers = yield* callAll(requests);
      let refused: ControlAnswer | undefined;
      for (const answer of answers) {
        if (isGood(answer)) {
          count++;
          this.tell(owner, "Normal", "SuccessfulCreate", `Created pod: ${nameIn(answer)}`);
        } else {
          refused ??= answer;
          if (!isOfTerminatingNamespace(answer)) {
            this.tell(owner, "Warning", "FailedCreate", `Error creating: ${messageOf(answer)}`);
          }
        }
      }
      if (refused !== undefined) return { count, refused };
    }
    return { count, refused: undefined };
  }

  /** The first refusal. What is gone already is no refusal. */
  *deleteMany(owner: Stored, pods: readonly Pod[]): Steps<ControlAnswer | undefined> {
    const answers = yield* callAll(pods.map((pod) => ({ method: "DELETE", path: pathTo(podRow, pod) })));
    let refused: ControlAnswer | undefined;
    for (const [at, answer] of answers.entries()) {
      const { name } = (pods[at] as Pod).metadata;
      if (isGood(answer)) this.tell(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
      else if (answer.status !== 404) {
        refused ??= answer;
        this.tell(owner, "Warning", "FailedDelete", `Error deleting: ${messageOf(answer)}`);
      }
    }
    return refused;
  }

  tell(owner: Stored, type: "Normal" | "Warning", reason: string, message: string): void {
    this.events.tell(subjectOf(this.row, owner), type, reason, message);
  }

  private creation(owner: Stored, template: PodTemplate, shape: PodShape): ClientRequest {
    const body = podOf(this.row, owner, template, shape);
    return { method: "POST", path: collectionOf(podRow, owner.metadata.namespace), body };
  }
}

/** A pod of a template. */
function podOf(row: KindRow, owner: Stored, template: PodTemplate, shape: PodShape = {}): JsonObject {
  const { labels, annotations, finalizers = [] } = template.metadata ?? {};
  const name =
    shape.name === undefined ? { generateName: shape.generateName ?? prefixOf(owner) } : { name: shape.name };
  const allFinalizers = [...finalizers, ...(shape.finalizers ?? [])];
  return bodyOf({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...name,
      labels: { ...labels, ...shape.labels },
      annotations: { ...annotations, ...shape.annotations },
      ...(allFinalizers.length === 0 ? {} : { finalizers: allFinalizers }),
      ownerReferences: [controllerReference(row, owner)],
    },
    spec: { ...template.spec, ...shape.spec },
  });
}

/** Before the generated part; a name too long for a pod's is left out. */
const prefixOf = ({ metadata: { name } }: Stored): string => (name.length < 253 ? `${name}-` : name);

const nameIn = ({ object }: ControlAnswer): string => (object as unknown as Stored).metadata.name;
