import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { cx } from '../lib/class-names.ts'
import { Icon, type IconName } from './icon.tsx'

export type ButtonVariant = 'primary' | 'secondary' | 'quiet' | 'danger' | 'red'

type Look = { variant?: ButtonVariant; size?: 'small' | 'normal' | 'large'; icon?: IconName; wide?: boolean }

const classOf = ({ variant = 'secondary', size = 'normal', wide = false }: Look) =>
  cx('button', `button-${variant}`, size !== 'normal' && `button-${size}`, wide && 'button-wide')

type ButtonProps = Look & {
  children: ReactNode
  onClick?: () => void
  type?: 'button' | 'submit'
  /** In the icon's place. */
  mark?: ReactNode
  /** The request is under way: the button keeps its place and its focus and does nothing. */
  busy?: boolean
  disabled?: boolean
  describedBy?: string
  label?: string
  /** It unfolds something, which is open or not. */
  expanded?: boolean
}

const Spinner = () => <span className="spinner" aria-hidden="true" />

/** Disabled buttons stay focusable, so that a keyboard doesn't lose its place when one becomes busy. */
export const Button = ({
  children,
  onClick,
  type = 'button',
  busy = false,
  disabled = false,
  icon,
  mark = icon && <Icon name={icon} size={16} />,
  describedBy,
  label,
  expanded,
  ...look
}: ButtonProps) => (
  <button
    type={type}
    className={classOf(look)}
    aria-disabled={disabled || busy || undefined}
    aria-busy={busy || undefined}
    aria-describedby={describedBy}
    aria-label={label}
    aria-expanded={expanded}
    onClick={(event) => {
      if (disabled || busy) return event.preventDefault()
      onClick?.()
    }}
  >
    {busy ? <Spinner /> : mark}
    {children}
  </button>
)

export const LinkButton = ({ href, children, icon, ...look }: Look & { href: string; children: ReactNode }) => (
  <Link href={href} className={classOf(look)}>
    {icon && <Icon name={icon} size={16} />}
    {children}
  </Link>
)

type WayProps = Pick<ButtonProps, 'children' | 'mark' | 'disabled'> & { onClick: () => void; busy?: boolean }

/** One of several ways to go on: its mark first, all of them in line. */
export const WayButton = ({ mark, disabled = false, busy = false, onClick, children }: WayProps) => (
  <button
    type="button"
    className={cx(classOf({ size: 'large', wide: true }), 'button-way')}
    aria-disabled={disabled || busy || undefined}
    aria-busy={busy || undefined}
    onClick={() => {
      if (!disabled && !busy) onClick()
    }}
  >
    <span className="avatar">{mark}</span>
    <span className="grow">{children}</span>
    {busy ? <Spinner /> : <Icon name="forward" size={16} />}
  </button>
)

/** One of a few that is on or off. */
export const ToggleChip = ({ on, onClick, children }: { on: boolean; onClick: () => void; children: string }) => (
  <button type="button" className="chip chip-button" aria-pressed={on} onClick={onClick}>
    {children}
  </button>
)

/** What a form is for. */
export const Submit = (look: Omit<ButtonProps, 'type' | 'variant'>) => <Button type="submit" variant="primary" {...look} />

/** To what creates something: a page's main act. */
export const NewLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <LinkButton href={href} variant="primary" icon="plus">
    {children}
  </LinkButton>
)

export const IconButton = ({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) => (
  <button type="button" className="button button-quiet button-icon" aria-label={label} title={label} onClick={onClick}>
    <Icon name={icon} />
  </button>
)

const useCopy = (value: string): [copied: boolean, copy: () => void] => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard.writeText(value).then(() => setCopied(true))
  }
  return [copied, copy]
}

/** An id or address that is copied by a click. */
export const CopyText = ({ value, text = value, label }: { value: string; text?: string; label: string }) => {
  const [copied, copy] = useCopy(value)
  return (
    <button type="button" className="copyable" onClick={copy} title={`Copy ${label}`} aria-label={`Copy ${label} ${value}`}>
      <span>{text}</span>
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      <span className="visually-hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  )
}

export const CopyButton = ({ value, children = 'Copy' }: { value: string; children?: string }) => {
  const [copied, copy] = useCopy(value)
  return (
    <button type="button" className="button button-secondary button-small" onClick={copy}>
      <Icon name={copied ? 'check' : 'copy'} size={15} />
      {copied ? 'Copied' : children}
      <span className="visually-hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** A secret that is shown once, so it must be easy to copy. */
export const Secret = ({ value, label }: { value: string; label: string }) => (
  <div className="row secret">
    <code>
      <span className="visually-hidden">{label}: </span>
      <span data-secret>{value}</span>
    </code>
    <CopyButton value={value} />
  </div>
)

export const CodeBlock = ({ code, label }: { code: string; label: string }) => (
  <div className="stack-s">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard has to reach it */}
    <section className="code-block" tabIndex={0} aria-label={label}>
      {code}
    </section>
    <div className="row row-end">
      <CopyButton value={code} />
    </div>
  </div>
)
