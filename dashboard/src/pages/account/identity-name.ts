import type { Schemas } from '../../api/types.ts'
import { maskSubject, shortAddress } from '../../lib/mask.ts'
import { providerNames } from '../../ui/provider-mark.tsx'

/** Which one of several: "Wallet 0x1234…abcd", "Google amina@example.com". */
export const identityName = ({ provider, subject, email }: Schemas['Identity']): string =>
  `${providerNames[provider]} ${provider === 'wallet' ? shortAddress(subject) : (email ?? maskSubject(subject))}`
