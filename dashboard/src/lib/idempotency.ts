import { useRef } from 'react'

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * A body with a key per form and content: a second click or a retry after a lost answer repeats the first request, a corrected form is a
 * new one. `of`: what the key is for, where the body does not say it.
 */
export const useIdempotencyKey = () => {
  const last = useRef<{ content: string; key: string } | null>(null)
  return <Body>(body: Body, of: unknown = body) => {
    const content = JSON.stringify(of)
    if (last.current?.content !== content) last.current = { content, key: randomKey() }
    return { body, headers: { 'Idempotency-Key': last.current.key } }
  }
}
