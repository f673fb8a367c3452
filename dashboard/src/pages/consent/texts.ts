import english from '../../../../texts/consent.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts shown before an app or a device gets access. */
export const { t: tConsent, rich: richConsent } = await createTranslator(
  english,
  () => import('../../../../texts/consent.sw.json', { with: { type: 'json' } }),
)
