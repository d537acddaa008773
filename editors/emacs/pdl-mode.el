;;; pdl-mode.el --- Editing networks in pdl  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "27.1"))

;;; Commentary:

;; A major mode with highlighting and indentation.  With Eglot, the language server does the rest:
;;
;;   (add-hook 'pdl-mode-hook #'eglot-ensure)

;;; Code:

(require 'pdl-words)

(defgroup pdl nil
  "Editing networks in pdl."
  :group 'languages)

(defcustom pdl-indent-offset 2
  "Columns of each level of indentation."
  :type 'integer
  :safe #'integerp)

(defcustom pdl-program '("pdl" "lsp")
  "The command that starts the language server."
  :type '(repeat string))

(defvar pdl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "w" table)
    (dolist (sign '(?+ ?- ?* ?/ ?% ?@ ?= ?< ?> ?| ?~))
      (modify-syntax-entry sign "." table))
    table))

(defconst pdl-font-lock-keywords
  `((,(concat "\\(?:^\\|{\\)\\s-*\\(" (regexp-opt pdl-statement-words 'words) "\\)\\s-+[A-Za-z_\"]")
     1 font-lock-keyword-face)
    (,(regexp-opt pdl-keywords 'words) . font-lock-keyword-face)
    (,(regexp-opt pdl-constants 'words) . font-lock-constant-face)
    (,(regexp-opt pdl-dtypes 'words) . font-lock-type-face)
    (,(concat (regexp-opt pdl-layers 'words) "(") 1 font-lock-builtin-face)
    (,(concat (regexp-opt pdl-operators 'words) "(") 1 font-lock-function-name-face)
    ("\\<\\([A-Za-z_][A-Za-z0-9_]*\\)\\s-*=[^=]" 1 font-lock-variable-name-face)))

(defun pdl-indent-line ()
  "Indent by the number of open brackets and blocks."
  (interactive)
  (let* ((begin (save-excursion (back-to-indentation) (point)))
         (depth (car (syntax-ppss (line-beginning-position))))
         (closes (and (char-after begin) (eq (char-syntax (char-after begin)) ?\))))
         (column (* pdl-indent-offset (max 0 (- depth (if closes 1 0))))))
    (if (<= (point) begin)
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode pdl-mode prog-mode "pdl"
  "Major mode for networks in pdl."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+\\s-*")
  (setq-local indent-line-function #'pdl-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(pdl-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.pdl\\'" . pdl-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'pdl-mode pdl-program)))

(provide 'pdl-mode)
;;; pdl-mode.el ends here
