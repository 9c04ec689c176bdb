/** Bugs of tokens and authorizers, of a server that is started with configuration files: rows of `server-bugs.ts`. */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const accessBugs = {
  "jwt-email-unverified": {
    area: "access",
    foundBy: "tokens-are-who-their-claims-say",
    symptom: "A user name is taken from the email address of a token that says that nobody verified it.",
    source: "kubernetes/kubernetes#123675, #123737",
  },
  "jwt-expiry-ignored": {
    area: "access",
    foundBy: "tokens-are-who-their-claims-say",
    symptom: "A token that has expired is accepted.",
    source: commonMistake,
  },
  "jwt-audience-ignored": {
    area: "access",
    foundBy: "tokens-are-who-their-claims-say",
    symptom: "A token is accepted whomever it is for.",
    source: commonMistake,
  },
  "jwt-keys-shared": {
    area: "access",
    foundBy: "forged-tokens-are-refused",
    symptom: "A token is accepted that another of the configured issuers has signed.",
    source: commonMistake,
  },
  "jwt-memory-outlives-token": {
    area: "access",
    foundBy: "tokens-end-with-their-lifetime",
    symptom: "A token that has been accepted once is accepted for ever.",
    source: commonMistake,
  },
  "jwt-keys-read-once": {
    area: "access",
    foundBy: "keys-of-an-issuer-change",
    symptom: "The keys of an issuer are read once: a token that was signed by a newer one is refused.",
    source: commonMistake,
  },
  "jwt-old-keys-kept": {
    area: "access",
    foundBy: "keys-of-an-issuer-change",
    symptom: "Keys that an issuer does not show any more go on to count beside the newer ones.",
    source: commonMistake,
  },
  "authorizer-denial-passed-on": {
    area: "access",
    foundBy: "authorizers-are-asked-in-order",
    symptom: "What an authorizer denies, a later one may allow.",
    source: commonMistake,
  },
  "authorizer-answers-stay": {
    area: "access",
    foundBy: "decisions-are-kept-for-their-lifetime",
    symptom: "What a webhook has once allowed or denied counts for ever.",
    source: commonMistake,
  },
} as const satisfies Record<string, BugRow>;
