import type { z } from 'zod'
import { type ProviderName, providerFailed } from './provider.ts'

const timeoutMs = 10_000

export type ProviderResponse = { status: number; body: unknown }

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
