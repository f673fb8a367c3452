import type { ReactNode } from 'react'
import { cx } from '../lib/class-names.ts'
import { isMoneySimulated } from '../lib/page-state.ts'

export const Brand = () => (
  <span className="brand">
    <img src="/icon.svg" width="28" height="28" alt="" />
    Payments
    <SandboxBadge />
  </span>
)

/** A page with one thing to do. */
export const SinglePage = ({ children, wide = false, aside }: { children: ReactNode; wide?: boolean; aside?: ReactNode }) => (
  <main className="single">
    <div className={cx('single-inner stack', wide && 'single-wide')}>
      <div className="row row-between">
        <Brand />
        {aside}
      </div>
      <div className="card">
        <div className="card-body">{children}</div>
      </div>
    </div>
  </main>
)

/** On every page where no real money moves. */
export const SandboxBadge = () =>
  isMoneySimulated() ? (
    <span className="sandbox-badge" title="Payments are simulated. No real money moves.">
      Sandbox
    </span>
  ) : null
