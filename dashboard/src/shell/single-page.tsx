import type { ReactNode } from 'react'
import { cx } from '../lib/class-names.ts'
import { t } from '../lib/language.ts'
import { isMoneySimulated } from '../lib/page-state.ts'
import { useTitle } from '../lib/title.ts'
import { Button } from '../ui/button.tsx'
import { useOtherLanguage } from './own-language.ts'

export const Brand = () => (
  <span className="brand">
    <img src="/icon.svg" width="28" height="28" alt="" />
    Payments
    <SandboxBadge />
  </span>
)

type Props = { title: string; children: ReactNode; wide?: boolean; aside?: ReactNode }

export const SinglePage = ({ title, children, wide = false, aside }: Props) => {
  useTitle(title)
  return (
    <main className="single">
      <div className={cx('single-inner stack', wide && 'single-wide')}>
        <div className="row row-between">
          <Brand />
          {aside}
        </div>
        <div className="card">
          <div className="card-body">{children}</div>
        </div>
        <div className="row row-end no-print">
          <Button variant="ghost" size="small" icon="language" {...useOtherLanguage()} />
        </div>
      </div>
    </main>
  )
}

/** Badge on every page if money is simulated. */
export const SandboxBadge = () =>
  isMoneySimulated() ? (
    <span className="sandbox-badge" title={t('brand.simulated')}>
      {t('brand.sandbox')}
    </span>
  ) : null
