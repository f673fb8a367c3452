import english from '../../../../texts/workspace.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** What the pages of the workspace and its members say. */
export const { t: tWork, rich: richWork } = await readTexts(
  english,
  () => import('../../../../texts/workspace.sw.json', { with: { type: 'json' } }),
)
