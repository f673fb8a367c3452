import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { cx } from '../lib/class-names.ts'
import { useTitle } from '../lib/title.ts'
import { Icon, type IconName } from './icon.tsx'

type PageHeaderProps = { title: string; lead?: ReactNode; actions?: ReactNode; back?: { href: string; label: string } }

export const PageHeader = ({ title, lead, actions, back }: PageHeaderProps) => {
  useTitle(title)
  return (
    <header className="page-header">
      <div className="grow">
        {back && (
          <Link href={back.href} className="page-back">
            <Icon name="back" size={16} />
            {back.label}
          </Link>
        )}
        <h1>{title}</h1>
        {lead && <p>{lead}</p>}
      </div>
      {actions && <div className="row no-print">{actions}</div>}
    </header>
  )
}

/** A page below its header. */
export const Page = ({ children, ...header }: PageHeaderProps & { children: ReactNode }) => (
  <div className="stack">
    <PageHeader {...header} />
    {children}
  </div>
)

type CardProps = {
  title?: string
  note?: ReactNode
  actions?: ReactNode
  footer?: ReactNode
  children: ReactNode
  flush?: boolean
}

export const Card = ({ title, note, actions, footer, children, flush = false }: CardProps) => (
  <section className="card">
    {title && (
      <div className="card-header">
        <div>
          <h2>{title}</h2>
          {note && <p>{note}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
    )}
    {flush ? children : <div className="card-body">{children}</div>}
    {footer && <div className="card-footer">{footer}</div>}
  </section>
)

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

const noticeIcons: Readonly<Record<Tone, IconName>> = { plain: 'info', good: 'check', warn: 'alert', bad: 'alert', info: 'info' }

export const Notice = ({
  tone = 'plain',
  title,
  children,
  live = false,
}: {
  tone?: Tone
  title?: ReactNode
  children?: ReactNode
  live?: boolean
}) => (
  <div className={`notice tone-${tone}`} role={live ? (tone === 'bad' ? 'alert' : 'status') : undefined}>
    <Icon name={noticeIcons[tone]} />
    <div className="notice-body">
      {title && <p className="strong">{title}</p>}
      {children}
    </div>
  </div>
)

export const Empty = ({
  icon,
  title,
  children,
  actions,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  actions?: ReactNode
}) => (
  <div className="empty">
    <span className="avatar avatar-large">
      <Icon name={icon} size={22} />
    </span>
    <p className="empty-title">{title}</p>
    {children && <p>{children}</p>}
    {actions && <div className="row">{actions}</div>}
  </div>
)

/** Names and values; a name without a value is left out. */
export const Facts = ({ facts, stacked = false }: { facts: Readonly<Record<string, ReactNode>>; stacked?: boolean }) => (
  <dl className={cx('facts', stacked && 'facts-stacked')}>
    {Object.entries(facts)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([label, value]) => [<dt key={`${label}-name`}>{label}</dt>, <dd key={label}>{value}</dd>])}
  </dl>
)

/** Placeholders of loading rows, in the rows' height, so that nothing moves when they arrive. */
export const SkeletonRows = ({ rows = 4 }: { rows?: number }) => (
  <ul className="rows" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: places, not things
      <li key={index}>
        <div className="item" aria-hidden="true">
          <span className="avatar" />
          <div className="item-main stack-s">
            <span className="skeleton" style={{ width: `${52 - (index % 3) * 9}%` }} />
            <span className="skeleton" style={{ width: `${30 - (index % 3) * 5}%`, height: '10px' }} />
          </div>
          <span className="skeleton" style={{ width: '84px' }} />
        </div>
      </li>
    ))}
  </ul>
)

export const SkeletonCard = ({ rows }: { rows: number }) => (
  <div className="card">
    <SkeletonRows rows={rows} />
  </div>
)

export const SkeletonText = ({ width = '60%', height = 14 }: { width?: string; height?: number }) => (
  <span
    className="skeleton"
    aria-hidden="true"
    style={{ width, height: `${height}px`, display: 'inline-block', verticalAlign: 'middle' }}
  />
)
