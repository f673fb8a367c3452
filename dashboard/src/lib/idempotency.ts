import { useRef } from 'react'

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * A key per form and content: a second click or a retry after a lost answer repeats the first request, a corrected form is a new one.
 */
export const useIdempotencyKey = (): ((body: unknown) => { 'Idempotency-Key': string }) => {
  const last = useRef<{ content: string; key: string } | null>(null)
  return (body) => {
    const content = JSON.stringify(body)
    if (last.current?.content !== content) last.current = { content, key: randomKey() }
    return { 'Idempotency-Key': last.current.key }
  }
}
