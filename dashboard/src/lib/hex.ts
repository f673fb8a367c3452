export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** SHA-256 in hexadecimal, sent to bind a decision to the shown text. Undefined without HTTPS. */
export const digestOfText = async (message: string): Promise<string | undefined> => {
  if (!crypto.subtle) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message))
  return toHex(new Uint8Array(digest))
}
