/** Objects that experiments are made of. */
import type { JsonObject } from "../contract/http-message.ts";
import { bodyOf } from "./driver-client.ts";

export interface PodShape {
  readonly containers: number;
  readonly bytes: number;
  readonly cpu?: string;
  readonly memory?: string;
  readonly image?: string;
  /** Usage, as a usage model's text. */
  readonly uses?: string | undefined;
  readonly grace?: number;
  readonly tolerates?: number | undefined;
}

/** By which an image's containers use what the experiment says. */
export const imageOf = ({ image = "app:1", uses }: PodShape): string =>
  uses === undefined ? image : `uses-${textHash(uses)}/${image}`;

/** Short and the same everywhere: 32 bits of a text. */
function textHash(text: string): string {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619) >>> 0;
  return hash.toString(16);
}

function podSpec(shape: PodShape, more: object = {}): object {
  const { containers, cpu, memory, grace = 30, tolerates } = shape;
  const requests = cpu === undefined || memory === undefined ? {} : { resources: { requests: { cpu, memory } } };
  const toleration = (key: string): object => ({
    key,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: tolerates,
  });
  return {
    terminationGracePeriodSeconds: grace,
    ...(tolerates === undefined
      ? {}
      : { tolerations: [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")] }),
    containers: Array.from({ length: containers }, (_, index) => ({
      name: index === 0 ? "main" : `side-${index}`,
      image: imageOf(shape),
      ...requests,
    })),
    ...more,
  };
}

const padding = (bytes: number): object => (bytes === 0 ? {} : { annotations: { padding: "x".repeat(bytes) } });

export const podOf = (name: string, shape: PodShape, more: object = {}, labels: object = {}): JsonObject =>
  bodyOf({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ...padding(shape.bytes) },
    spec: podSpec(shape, more),
  });

export function deploymentOf(name: string, replicas: number, shape: PodShape): JsonObject {
  return bodyOf({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name }, ...padding(shape.bytes) }, spec: podSpec(shape) },
    },
  });
}

export const budgetOf = (name: string, minAvailable: number): JsonObject =>
  bodyOf({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name },
    spec: { minAvailable, selector: { matchLabels: { app: name } } },
  });

export const daemonSetOf = (name: string, image: string): JsonObject =>
  bodyOf({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image }] } },
    },
  });

const kinds = { configmaps: "ConfigMap", secrets: "Secret", services: "Service" } as const;

export function plainObject(what: keyof typeof kinds, name: string, bytes: number): JsonObject {
  const head = { apiVersion: "v1", kind: kinds[what], metadata: { name } };
  if (what === "services") return bodyOf({ ...head, spec: { selector: { app: name }, ports: [{ port: 80 }] } });
  const value = "x".repeat(bytes);
  return bodyOf(what === "secrets" ? { ...head, stringData: { value } } : { ...head, data: { value } });
}
