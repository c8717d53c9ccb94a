// Dark or light: as the system says, until the reader chooses.
import { useState } from 'react'
import { Choice } from '../components/fields.js'

const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]
const KEY = 'theme'

/** A browser can refuse to store anything. */
function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return themes.find((theme) => theme === stored) ?? 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme)
  const choose = (value: string) => {
    const chosen = themes.find((known) => known === value) ?? 'system'
    setTheme(chosen)
    applyTheme(chosen)
    try {
      localStorage.setItem(KEY, chosen)
    } catch {
      // The choice then lasts as long as the page.
    }
  }
  const options = [
    { value: 'system', text: 'As the system' },
    { value: 'light', text: 'Light' },
    { value: 'dark', text: 'Dark' }
  ]
  return <Choice label="Colours" value={theme} options={options} onChange={choose} />
}
