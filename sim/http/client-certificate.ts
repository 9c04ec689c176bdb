/**
 * Who a TLS connection's client says that it is. A certificate is asked for and not demanded: whoever sends none may
 * have a token. Source: kube-apiserver, `--client-ca-file`: the common name is the user, the organizations its groups.
 */
import type { Http2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ClientIdentity } from "../contract/http-message.ts";

/** Either of node's request classes, as far as it leads to its connection. */
export interface OnConnection {
  readonly socket?: object;
  readonly stream?: { readonly session?: Http2Session | undefined };
}

export type ClientCertificate = ClientIdentity | "invalid" | undefined;

/** One answer for each connection, however many requests it carries. */
export function clientCertificates(): (request: OnConnection) => ClientCertificate {
  const known = new WeakMap<object, { readonly certificate: ClientCertificate }>();
  return ({ socket, stream }) => {
    // The client has left between its request's head and end: who it was is gone with its session, and nobody listens.
    if (stream !== undefined && stream.session?.destroyed !== false) return "invalid";
    const connection = stream?.session ?? socket;
    if (connection === undefined) return undefined;
    let found = known.get(connection);
    if (found === undefined) {
      found = { certificate: certificateOf((stream?.session?.socket ?? socket) as TLSSocket) };
      known.set(connection, found);
    }
    return found.certificate;
  };
}

function certificateOf(socket: TLSSocket): ClientCertificate {
  const { subject } = socket.getPeerCertificate() as { subject?: Record<string, string | string[] | undefined> };
  if (subject === undefined) return undefined;
  const [commonName] = many(subject["CN"]);
  if (!socket.authorized) return "invalid";
  return commonName === undefined ? undefined : { commonName, organizations: many(subject["O"]) };
}

/** Node gives an attribute that occurs once as a string. */
function many(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
