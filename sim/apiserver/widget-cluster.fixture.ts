/** For tests: a server in which widgets are defined. */
import type { ApiServerOptions } from "./api-server.ts";
import type { Profile } from "../contract/profile.ts";
import { type Answer, TestBed } from "./test-bed.fixture.ts";

export const json = { "content-type": "application/json" };

export interface Version {
  readonly name: string;
  readonly [field: string]: unknown;
}

const widgetSchema = (prefix: string) => ({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, maximum: 5, default: 2 },
        replicas: { type: "integer" },
        free: { type: "object", [`${prefix}preserve-unknown-fields`]: true },
        port: { [`${prefix}int-or-string`]: true },
        tags: { type: "array", [`${prefix}list-type`]: "set", items: { type: "string" } },
        note: { type: "string", nullable: true },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
  },
});

/** A server with the definition of widgets, or about to have it. */
export class Cluster {
  readonly bed: TestBed;
  readonly profile: Profile;
  readonly definitions: string;

  constructor(profile: Profile, options: Partial<ApiServerOptions> = {}) {
    this.profile = profile;
    this.bed = new TestBed({ profile, ...options });
    this.definitions = `/apis/apiextensions.${profile.dialect.groupSuffix}/v1/customresourcedefinitions`;
  }

  define(spec: Record<string, unknown> = {}, versions?: readonly Version[]): Answer {
    const schema = { openAPIV3Schema: widgetSchema(this.profile.dialect.extensionPrefix) };
    return this.post(this.definitions, {
      metadata: { name: "widgets.shop.example.com" },
      spec: {
        group: "shop.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget", shortNames: ["wi"] },
        versions: (versions ?? [{ name: "v1" }]).map((version, at) => ({
          served: true,
          storage: at === 0,
          schema,
          subresources: { status: {} },
          ...version,
        })),
        ...spec,
      },
    });
  }

  /** Defines, and waits until it is served. */
  establish(spec?: Record<string, unknown>, versions?: readonly Version[]): this {
    const { status, text } = this.define(spec, versions);
    if (status !== 201) throw new Error(text);
    return this.pass(1_000);
  }

  pass(millis: number): this {
    this.bed.kernel.run(this.bed.kernel.nowMicros() + millis * 1_000);
    return this;
  }

  post(path: string, body: unknown): Answer {
    return this.bed.ask(`POST ${path}`, { headers: json, body });
  }

  widget(name: string, spec: unknown = {}, more: Record<string, unknown> = {}): Answer {
    const body = { apiVersion: "shop.example.com/v1", kind: "Widget", metadata: { name }, spec, ...more };
    return this.post(`${widgets}`, body);
  }

  get(path: string): Answer {
    return this.bed.ask(`GET ${path}`);
  }
}

export const group = "/apis/shop.example.com";
export const widgets = `${group}/v1/namespaces/default/widgets`;
export const definition = "widgets.shop.example.com";
