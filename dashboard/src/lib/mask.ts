/** 0x1234…abcd */
export const shortAddress = (address: string): string =>
  address.length > 14 ? `${address.slice(address.lastIndexOf(':') + 1).slice(0, 6)}…${address.slice(-4)}` : address

/** A provider's identifier of a person: enough to recognise it, not to copy it. */
export const maskSubject = (subject: string): string =>
  subject.length > 8 ? `${subject.slice(0, 3)}…${subject.slice(-3)}` : subject

export const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('')
