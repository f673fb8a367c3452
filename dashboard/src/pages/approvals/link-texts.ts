import english from '../../../../texts/approval-link.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of the page for the holder of an approval's link. */
export const { t: tLink, rich: richLink } = await createTranslator(
  english,
  () => import('../../../../texts/approval-link.sw.json', { with: { type: 'json' } }),
)
