import english from '../../../../texts/workspace.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of the pages about the workspace and its members. */
export const { t: tWork, rich: richWork } = await createTranslator(
  english,
  () => import('../../../../texts/workspace.sw.json', { with: { type: 'json' } }),
)
