import type { ReactNode } from 'react'
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
