import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { cx } from '../lib/class-names.ts'
import { Icon, type IconName } from './icon.tsx'

type MenuProps = { label: string; button: ReactNode; children: (close: () => void) => ReactNode; up?: boolean; right?: boolean }

type ItemProps = { icon?: IconName; mark?: ReactNode; children: ReactNode; href?: string; lang?: string; onClick?: () => void }

export const MenuItem = ({ icon, mark = icon && <Icon name={icon} />, children, href, lang, onClick }: ItemProps) =>
  href ? (
    <Link href={href} className="menu-item" {...(onClick && { onClick })}>
      {mark}
      {children}
    </Link>
  ) : (
    <button type="button" className="menu-item" lang={lang} onClick={onClick}>
      {mark}
      {children}
    </button>
  )

const itemsOf = (list: HTMLElement | null): HTMLElement[] => (list ? [...list.querySelectorAll<HTMLElement>('.menu-item')] : [])

export const Menu = ({ label, button, children, up = false, right = false }: MenuProps) => {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const trigger = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (open) itemsOf(list.current)[0]?.focus()
  }, [open])
  useDismiss(open, setOpen, { root, trigger })

  const close = () => {
    setOpen(false)
    trigger.current?.focus()
  }
  const move = (step: number) => {
    const items = itemsOf(list.current)
    const index = document.activeElement instanceof HTMLElement ? items.indexOf(document.activeElement) : -1
    // With no item focused, the arrow up goes to the last one.
    items.at((step < 0 ? Math.max(index, 0) + step : index + step) % items.length)?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the arrow keys of the list inside
    <div
      className="menu"
      ref={root}
      onKeyDown={(event) => {
        if (!open) return
        if (event.key === 'ArrowDown') move(1)
        else if (event.key === 'ArrowUp') move(-1)
        else return
        event.preventDefault()
      }}
    >
      <button
        ref={trigger}
        type="button"
        className="menu-button"
        aria-label={label}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div ref={list} className={cx('menu-list', up && 'menu-up', right && 'menu-right')}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

/** Closes an unfolded part on Escape inside it or a click elsewhere. Escape returns the focus to its button. */
export const useDismiss = (
  open: boolean,
  setOpen: (open: boolean) => void,
  { root, trigger }: { root: RefObject<HTMLElement | null>; trigger: RefObject<HTMLElement | null> },
): void => {
  useEffect(() => {
    const inside = root.current
    if (!open || !inside) return undefined
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !inside.contains(event.target)) setOpen(false)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      setOpen(false)
      trigger.current?.focus()
    }
    addEventListener('pointerdown', onPointer)
    inside.addEventListener('keydown', onKey)
    return () => {
      removeEventListener('pointerdown', onPointer)
      inside.removeEventListener('keydown', onKey)
    }
  }, [open, setOpen, root, trigger])
}
