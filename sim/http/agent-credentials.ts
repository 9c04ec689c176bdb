/** How connections to agents of nodes are made: what the server shows them, and whom it believes. */
export interface AgentCredentials {
  /** PEM of the authorities of agents' serving certificates. Undefined: any certificate is taken. */
  readonly authority?: string | undefined;
  /** What this server shows who it is. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
}

/** Options of node's client for a connection over TLS. */
export function tlsOptionsOf({ authority, clientCertificate }: AgentCredentials): object {
  return {
    rejectUnauthorized: authority !== undefined,
    ...(authority === undefined ? {} : { ca: authority }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate.certificate, key: clientCertificate.key }),
  };
}
