import type { z } from 'zod'
import { Refusal } from '../../lib/errors.ts'
import { cleanName } from '../../lib/text.ts'
import { sha256 } from '../secrets.ts'

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

/** Where the browser begins an authorization-code flow, with PKCE. */
export const authorizationUrl = (address: string, flow: FlowSecrets, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(address)
  const ofFlow = {
    state: flow.state,
    code_challenge: sha256(flow.verifier).toString('base64url'),
    code_challenge_method: 'S256',
    response_type: 'code',
  }
  for (const [name, value] of Object.entries({ ...parameters, ...ofFlow })) url.searchParams.set(name, value)
  return url.href
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

export const timeoutMs = 10_000

type ProviderResponse = { status: number; body: unknown }

/** One request to a provider. It follows no redirect: that would send a token or a secret along. */
export const requestProvider = async (name: ProviderName, url: string, init: RequestInit = {}): Promise<ProviderResponse> => {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  } catch {
    throw providerFailed(name, 'it cannot be reached')
  }
}

export const requestJson = async <Schema extends z.ZodType>(
  name: ProviderName,
  schema: Schema,
  url: string,
  init: RequestInit = {},
): Promise<z.output<Schema>> => {
  const { status, body } = await requestProvider(name, url, init)
  if (status !== 200) throw providerFailed(name, `HTTP ${status}`)
  const read = schema.safeParse(body)
  if (!read.success) throw providerFailed(name, 'its answer cannot be read')
  return read.data
}
