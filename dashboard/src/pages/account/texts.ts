import english from '../../../../texts/account.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of the account page, and of the offer of push notifications. */
export const { t: tAccount, rich: richAccount } = await createTranslator(
  english,
  () => import('../../../../texts/account.sw.json', { with: { type: 'json' } }),
)
