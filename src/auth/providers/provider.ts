import { Refusal } from '../../lib/errors.ts'
import { cleanName } from '../../lib/text.ts'

export type ProviderName = 'google' | 'github'
export const providerTitles: Readonly<Record<ProviderName, string>> = { google: 'Google', github: 'GitHub' }

/** Created by us for one flow. The provider returns `state` through the browser, and `nonce` in the token that it signs. */
export type FlowSecrets = { state: string; nonce: string; verifier: string }

/** The person who signed in, as the provider identifies them. */
export type ProvenSubject = { subject: string; email: string | null; emailVerified: boolean; displayName: string | null }

/** An authorization-code provider. Both calls may use the network: never inside a transaction. */
export type IdentityProvider = {
  /** The issuer under which its identities are stored. A sandbox's is never equal to a real one's. */
  issuer: string
  authorizationUrl: (flow: FlowSecrets, options: { redirectUri: string; chooseAccount: boolean }) => Promise<string>
  /** Throws `invalid_request` when the code or its token does not belong to this flow, `provider_error` when the provider fails. */
  redeem: (flow: FlowSecrets, answer: { code: string; redirectUri: string }) => Promise<ProvenSubject>
}

export type IdentityProviders = Readonly<Record<ProviderName, IdentityProvider | null>>

/** Without a cause on purpose: the libraries' messages hold codes and tokens, and a cause is logged. */
export const providerFailed = (name: ProviderName, what: string): Refusal =>
  new Refusal('provider_error', { message: `${providerTitles[name]} gave an answer that cannot be used: ${what}.` })

export const notOfThisFlow = (name: ProviderName, what: string): Refusal =>
  new Refusal('invalid_request', {
    message: `${providerTitles[name]}'s answer does not belong to this sign-in: ${what}. Start again.`,
  })

const longestEmail = 320

/** An e-mail in the form that is stored and compared; text that does not look like one gives none. */
export const readEmail = (text: unknown): string | null =>
  typeof text === 'string' && text.length <= longestEmail && /^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/u.test(text)
    ? text
    : null

/** A name as the provider shows it, made one of ours: a sign-in is not refused because of it. */
export const readName = (text: unknown): string | null => (typeof text === 'string' ? cleanName(text) : null)
