import english from '../../../../texts/sign-in-help.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts beside the sign-in page, which loads them later. */
export const { t: tHelp } = await createTranslator(
  english,
  () => import('../../../../texts/sign-in-help.sw.json', { with: { type: 'json' } }),
)
