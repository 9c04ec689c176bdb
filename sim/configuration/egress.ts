/**
 * EgressSelectorConfiguration: through which proxy the server reaches what it calls.
 * Source: document 2, EgressSelectorConfiguration; the facts, section 7 (texts and paths of errors), D29.
 */
import type { z } from "zod";
import { goQuote } from "../../wire/go-strings.ts";
import type { Cause } from "../contract/errors.ts";
import { duplicateValue, invalidText, invalidValue, requiredValue, unsupportedValue } from "../objects/causes.ts";
import type { Setting } from "./setting.ts";
import { fieldsOf, header, listOf, text } from "./shapes.ts";

const transportShape = fieldsOf({
  tcp: fieldsOf(
    {
      url: text.optional(),
      tlsConfig: fieldsOf({
        caBundle: text.optional(),
        clientKey: text.optional(),
        clientCert: text.optional(),
      }).optional(),
    },
    ["url"],
  ).optional(),
  uds: fieldsOf({ udsName: text.optional() }, ["udsName"]).optional(),
});

const selectionShape = fieldsOf(
  {
    name: text.optional(),
    connection: fieldsOf({ proxyProtocol: text.optional(), transport: transportShape.optional() }, [
      "proxyProtocol",
    ]).optional(),
  },
  ["name", "connection"],
);

export const egressShape = fieldsOf({ ...header, egressSelections: listOf(selectionShape).optional() }, [
  "apiVersion",
  "kind",
  "egressSelections",
]);

/** What the server calls: itself and its peers, the store, what runs in the cluster. */
export const egressNames = ["controlplane", "etcd", "cluster"] as const;
export type EgressName = (typeof egressNames)[number];

export type EgressSettings = ReadonlyMap<EgressName, EgressConnection>;

export type EgressConnection =
  | { readonly is: "direct" }
  /** A tunnel opened by CONNECT of HTTP/1.1. */
  | { readonly is: "connect"; readonly to: ProxyAddress }
  /** A tunnel in a stream of gRPC. */
  | { readonly is: "grpc"; readonly socket: string };

export type ProxyAddress =
  | { readonly is: "tcp"; readonly url: string; readonly tls: EgressTls | undefined }
  | { readonly is: "socket"; readonly path: string };

/** Paths of PEM files. */
export interface EgressTls {
  readonly certificateAuthority: string | undefined;
  readonly clientKey: string;
  readonly clientCertificate: string;
}

type Transport = z.infer<typeof transportShape>;
type Tcp = NonNullable<Transport["tcp"]>;

const protocols = ["Direct", "HTTPConnect", "GRPC"];

export function checkEgress(
  { egressSelections }: z.infer<typeof egressShape>,
  setting: Setting,
  problems: Cause[],
): EgressSettings {
  if (egressSelections === undefined && setting.rules.requiredAsDocumented) {
    problems.push(requiredValue("egressSelections"));
  }
  const { errorPaths, masterIsControlPlane } = setting.rules;
  const isObserved = errorPaths === "observed";
  const connections = (egressSelections ?? []).map(({ connection = {} }, index) => {
    const at = isObserved ? "service.connection" : `egressSelections[${index}].connection`;
    return new ConnectionCheck(at, setting, problems).check(connection.proxyProtocol ?? "", connection.transport);
  });
  const settings = new Map<EgressName, EgressConnection>();
  const seen = new Set<string>();
  (egressSelections ?? []).forEach(({ name: written = "" }, index) => {
    const field = `egressSelections[${index}].name`;
    const name = canonicalName(written);
    const counted = masterIsControlPlane && name !== undefined ? name : written.toLowerCase();
    if (seen.has(counted)) {
      problems.push(duplicateValue(isObserved ? `service.connection[${index}]` : field, counted));
      return;
    }
    seen.add(counted);
    if (name !== undefined) settings.set(name, connections[index] ?? { is: "direct" });
    else if (isObserved) problems.push(unsupportedValue("service.connection", counted, egressNames));
    else problems.push(written === "" ? requiredValue(field) : unsupportedValue(field, written, egressNames));
  });
  return settings;
}

/** `master` is the older word for `controlplane`. */
function canonicalName(written: string): EgressName | undefined {
  const lower = written.toLowerCase();
  return lower === "master" ? "controlplane" : egressNames.find((name) => name === lower);
}

const direct: EgressConnection = { is: "direct" };

class ConnectionCheck {
  private readonly at: string;
  private readonly setting: Setting;
  private readonly problems: Cause[];

  constructor(at: string, setting: Setting, problems: Cause[]) {
    this.at = at;
    this.setting = setting;
    this.problems = problems;
  }

  check(protocol: string, transport: Transport | undefined): EgressConnection {
    switch (protocol) {
      case "Direct":
        if (transport !== undefined) {
          const why = "Transport config should be absent for direct connect";
          this.problems.push(invalidValue(`${this.at}.transport`, "direct", why));
        }
        return direct;
      case "HTTPConnect":
        return this.connect(transport);
      case "GRPC":
        return this.grpc(transport);
      default:
        this.problems.push(unsupportedValue(this.field("protocol", "proxyProtocol"), protocol, protocols));
        return direct;
    }
  }

  /** The observed server's word for a place, or the field's own path below the connection. */
  private field(observed: string, own: string): string {
    return `${this.at}.${this.setting.rules.errorPaths === "observed" ? observed : own}`;
  }

  private connect(transport: Transport | undefined): EgressConnection {
    const { problems } = this;
    if (transport === undefined) {
      problems.push(requiredValue(`${this.at}.transport`, "transport must be set for HTTPConnect"));
      return direct;
    }
    const { tcp, uds } = transport;
    const field = this.field("tcp", "transport.tcp");
    if (tcp !== undefined && uds !== undefined) {
      problems.push(invalidText(field, goQuote(tcp.url ?? ""), "TCP and UDS cannot both be set"));
      return direct;
    }
    if (tcp !== undefined) return { is: "connect", to: this.tcp(tcp) };
    if (uds !== undefined) return { is: "connect", to: { is: "socket", path: this.socket(uds.udsName ?? "") } };
    problems.push(requiredValue(field, "One of TCP or UDS must be set"));
    return direct;
  }

  private grpc(transport: Transport | undefined): EgressConnection {
    const { problems } = this;
    if (transport === undefined) {
      problems.push(requiredValue(`${this.at}.transport`, "transport must be set for GRPC"));
      return direct;
    }
    const { tcp, uds } = transport;
    if (uds === undefined) {
      problems.push(requiredValue(this.field("uds", "transport.uds"), "UDS must be set with GRPC"));
      return direct;
    }
    if (tcp !== undefined && this.setting.rules.grpcRefusesTcp) {
      const why = "TCP cannot be set with GRPC";
      problems.push(invalidText(this.field("tcp", "transport.tcp"), goQuote(tcp.url ?? ""), why));
    }
    return { is: "grpc", socket: this.socket(uds.udsName ?? "") };
  }

  private tcp({ url = "", tlsConfig }: Tcp): ProxyAddress {
    const { problems } = this;
    const tlsField = this.field("tlsConfig", "transport.tcp.tlsConfig");
    if (url.startsWith("http://")) {
      // By the documents its files are what has to be absent.
      const isEmpty = Object.values(tlsConfig ?? {}).every((path) => path === "");
      if (tlsConfig !== undefined && !(isEmpty && this.setting.rules.requiredAsDocumented)) {
        problems.push(invalidValue(tlsField, "nil", "TLSConfig config should not be present when using HTTP"));
      }
      return { is: "tcp", url, tls: undefined };
    }
    if (!url.startsWith("https://")) {
      const why = "supported connection protocols are http:// and https://";
      problems.push(invalidValue(this.field("url", "transport.tcp.url"), url, why));
      return { is: "tcp", url, tls: undefined };
    }
    if (tlsConfig === undefined) {
      problems.push(requiredValue(tlsField, "TLSConfig must be present when using HTTPS"));
      return { is: "tcp", url, tls: undefined };
    }
    const { caBundle = "", clientKey = "", clientCert = "" } = tlsConfig;
    if (caBundle !== "") this.file(caBundle, `${tlsField}.caBundle`);
    this.requiredFile(clientCert, `${tlsField}.clientCert`, "Using TLS requires clientCert");
    this.requiredFile(clientKey, `${tlsField}.clientKey`, "Using TLS requires clientKey");
    const certificateAuthority = caBundle === "" ? undefined : caBundle;
    return { is: "tcp", url, tls: { certificateAuthority, clientKey, clientCertificate: clientCert } };
  }

  private requiredFile(path: string, field: string, why: string): void {
    if (path === "") this.problems.push(invalidValue(field, "nil", why));
    else this.file(path, field);
  }

  private file(path: string, field: string): void {
    const wrong = this.setting.fileProblem(path);
    if (wrong !== undefined) this.problems.push(invalidValue(field, path, wrong));
  }

  private socket(path: string): string {
    const field = this.field("udsName", "transport.uds.udsName");
    if (path === "") {
      this.problems.push(invalidValue(field, "nil", "UDSName should be present for UDS connections"));
    } else if (path.startsWith("unix:") && this.setting.rules.requiredAsDocumented) {
      this.problems.push(invalidValue(field, path, "must be a path without unix:// in front"));
    }
    return path;
  }
}
