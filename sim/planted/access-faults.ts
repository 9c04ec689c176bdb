/**
 * Bugs that a server with configuration files can be told to have. They prove the tests that look for them; the suite
 * finds them where it is an issuer itself.
 */
export interface AccessFaults {
  /** A username from the claim `email` is taken although `email_verified` is false. Source: kubernetes/kubernetes#123675. */
  readonly unverifiedEmailTaken?: true;
}
