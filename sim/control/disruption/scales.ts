/**
 * How many pods the controllers of some pods want in all. A controller is found by the reference that says it
 * controls the pod; what it wants, by its scale. A ReplicaSet that a Deployment controls counts as the Deployment.
 * Source: the published disruption controller's finders.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf, type OwnerReference } from "../../contract/objects.ts";
import { type ApiTypes, pathOf } from "../api-types.ts";
import type { ControlClient } from "../../client/control-client.ts";
import { oneByOne } from "../../client/work-queue.ts";

/** The sum, or in words why there is none. `later`: a read failed. */
export type ScaleAnswer = { readonly scale: number } | { readonly problem: string } | "later";

interface Controller {
  readonly uid: string;
  readonly replicas: number;
}

export class Scales {
  private readonly client: ControlClient;
  private readonly types: ApiTypes;

  constructor(client: ControlClient, types: ApiTypes) {
    this.client = client;
    this.types = types;
  }

  /** Pods that nobody controls do not count. */
  sum(pods: readonly JsonObject[], done: (answer: ScaleAnswer) => void): void {
    const known = new Map<string, number>();
    const asked = new Set<string>();
    const owned = pods.flatMap((pod) => {
      const controller = controllerOf(pod);
      if (controller === undefined || asked.has(controller.uid)) return [];
      asked.add(controller.uid);
      return [{ pod, controller }];
    });
    oneByOne(this.client.process, (at, next) => {
      const entry = owned[at];
      if (entry === undefined) {
        done({ scale: [...known.values()].reduce((total, replicas) => total + replicas, 0) });
        return;
      }
      const { namespace = "", name = "" } = metadataOf(entry.pod);
      this.find(entry.controller, namespace, (found) => {
        if (found === "later" || (typeof found === "object" && "problem" in found)) done(found);
        else if (found === undefined) done({ problem: `found no controllers for pod ${JSON.stringify(name)}` });
        else {
          known.set(found.uid, found.replicas);
          next();
        }
      });
    });
  }

  private find(
    controller: OwnerReference,
    namespace: string,
    done: (found: Controller | undefined | { readonly problem: string } | "later") => void,
  ): void {
    if (!isReplicaSet(controller)) {
      this.scaleOf(controller, namespace, done);
      return;
    }
    this.controllerOfReplicaSet(controller, namespace, (deployment) => {
      if (deployment === "later") done(deployment);
      else if (deployment === undefined) this.scaleOf(controller, namespace, done);
      else {
        this.scaleOf(deployment, namespace, (found) => {
          if (found === undefined) this.scaleOf(controller, namespace, done);
          else done(found);
        });
      }
    });
  }

  private controllerOfReplicaSet(
    replicaSet: OwnerReference,
    namespace: string,
    done: (deployment: OwnerReference | undefined | "later") => void,
  ): void {
    const type = this.types.ofKind(replicaSet.apiVersion, replicaSet.kind);
    if (type === undefined) {
      done(undefined);
      return;
    }
    this.client.get(pathOf(type, namespace, replicaSet.name), ({ status, object }) => {
      if (status === 404) done(undefined);
      else if (status !== 200 || object === undefined) done("later");
      else {
        const owner = metadataOf(object).uid === replicaSet.uid ? controllerOf(object) : undefined;
        done(owner?.kind === "Deployment" && isOfApps(owner) ? owner : undefined);
      }
    });
  }

  private scaleOf(
    { apiVersion, kind, name, uid }: OwnerReference,
    namespace: string,
    done: (found: Controller | undefined | { readonly problem: string } | "later") => void,
  ): void {
    const type = this.types.ofKind(apiVersion, kind);
    if (type === undefined) {
      done({ problem: `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}` });
      return;
    }
    if (!type.hasScale) {
      const resource = type.group === "" ? type.resource : `${type.resource}.${type.group}`;
      done({ problem: `${resource} does not implement the scale subresource` });
      return;
    }
    this.client.get(`${pathOf(type, namespace, name)}/scale`, ({ status, object }) => {
      if (status === 404) done(undefined);
      else if (status !== 200 || object === undefined) done("later");
      else if (metadataOf(object).uid !== uid) done(undefined);
      else done({ uid, replicas: ((object["spec"] as JsonObject | undefined)?.["replicas"] ?? 0) as number });
    });
  }
}

/** The one reference that says it controls the object. */
function controllerOf(object: JsonObject): OwnerReference | undefined {
  return metadataOf(object).ownerReferences?.find(({ controller }) => controller === true);
}

const isOfApps = ({ apiVersion }: OwnerReference): boolean => apiVersion.startsWith("apps/");

const isReplicaSet = (controller: OwnerReference): boolean => controller.kind === "ReplicaSet" && isOfApps(controller);
