import { useEffect } from 'react'
import { useSearchParams } from 'wouter'
import { announceProof } from '../../api/step-up.ts'
import { t } from '../../lib/language.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { tHelp } from './help-texts.ts'

/** Last page of the step-up window. Some browsers let the window close itself. */
export const ConfirmedPage = () => {
  const [params] = useSearchParams()
  const isProven = params.get('outcome') === 'already_linked'
  const title = isProven ? t('confirmed') : tHelp('confirmed.not')
  useEffect(() => {
    if (!isProven) return
    announceProof()
    window.close()
  }, [isProven])
  return (
    <SinglePage title={title}>
      <div className="stack-xs">
        <h1>{title}</h1>
        <p className="muted">{tHelp(isProven ? 'confirmed.goes_on' : 'confirmed.nothing')}</p>
      </div>
    </SinglePage>
  )
}
