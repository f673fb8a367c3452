import english from '../../../../texts/pay.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of a payment's form, review and receipt. */
export const { t: tPay, rich: richPay } = await createTranslator(
  english,
  () => import('../../../../texts/pay.sw.json', { with: { type: 'json' } }),
)
