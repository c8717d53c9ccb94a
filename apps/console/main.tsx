import { createRoot } from 'react-dom/client'
import './styles/tokens.css'
import './styles/base.css'
import { App } from './shell/app.js'
import { applyTheme } from './shell/theme.js'

applyTheme()
createRoot(document.getElementById('root')!).render(<App />)
