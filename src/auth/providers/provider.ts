import { Refusal } from '../../lib/errors.ts'

export type ProviderName = 'google' | 'github'
export const providerTitles: Readonly<Record<ProviderName, string>> = { google: 'Google', github: 'GitHub' }

/** Made by us for one flow; the provider gives `state` back through the browser and `nonce` in what it signs. */
export type FlowSecrets = { state: string; nonce: string; verifier: string }

/** The person who came back, as the provider identifies them. */
export type ProvenSubject = { subject: string; email: string | null; emailVerified: boolean; displayName: string | null }

/** An authorization-code provider. Both calls may speak to it: never inside a transaction. */
export type IdentityProvider = {
  /** What its identities are kept under. A sandbox's never equals a real one's. */
  issuer: string
  authorizationUrl: (flow: FlowSecrets, options: { redirectUri: string; chooseAccount: boolean }) => Promise<string>
  /** Throws `invalid_request` when the code or what it stands for is not of this flow, `provider_error` when the provider fails. */
  redeem: (flow: FlowSecrets, answer: { code: string; redirectUri: string }) => Promise<ProvenSubject>
}

export type IdentityProviders = Readonly<Record<ProviderName, IdentityProvider | null>>

/** Without a cause on purpose: the libraries' messages hold codes and tokens, and a cause is logged. */
export const providerFailed = (name: ProviderName, what: string): Refusal =>
  new Refusal('provider_error', { message: `${providerTitles[name]} did not answer as it should: ${what}.` })

export const notOfThisFlow = (name: ProviderName, what: string): Refusal =>
  new Refusal('invalid_request', {
    message: `${providerTitles[name]}'s answer does not belong to this sign-in: ${what}. Please start again.`,
  })

const longestEmail = 320

/** An e-mail as it may be stored and compared; anything that doesn't look like one is none. */
export const readEmail = (text: unknown): string | null =>
  typeof text === 'string' && text.length <= longestEmail && /^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/u.test(text)
    ? text
    : null

/** A name as the provider shows it, cut to what an account's name may be. */
export const readName = (text: unknown): string | null => {
  if (typeof text !== 'string') return null
  const name = text.toWellFormed().replaceAll('\u0000', '').trim().slice(0, 120)
  return name === '' ? null : name
}
