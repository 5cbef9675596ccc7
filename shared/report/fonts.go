package report

import "fastbowlinglab/shared/report/typeset"

// Font is one font file of the report. Files come from the pinned npm packages
// of @expo-google-fonts (OFL 1.1) and lie side by side in one folder when
// deployed. A file is used only if its hash is the one given here.
type Font struct {
	Family   string
	Weight   typeset.Weight
	Package  string // npm package below @expo-google-fonts
	Path     string // in the package
	SHA256   string
	Optional bool // widens the range of scripts; text falls back to code points without it
}

// Fonts lists every font the report may use. Add a row for a new font, and its
// scripts to families in fontset.go.
var Fonts = []Font{
	{Family: "NotoSans", Weight: typeset.Regular, Package: "noto-sans", Path: "400Regular/NotoSans_400Regular.ttf",
		SHA256: "fe8c022f48d8dd29f17b744d16f9346f4357e16f7d4f7be58b000ae7c291b614"},
	{Family: "NotoSans", Weight: typeset.SemiBold, Package: "noto-sans", Path: "600SemiBold/NotoSans_600SemiBold.ttf",
		SHA256: "e691fe27813ec6ed11d0a5be4c6c1f6739996ed682462eaa3244a6185217dd6c"},
	{Family: "NotoNaskhArabic", Weight: typeset.Regular, Package: "noto-naskh-arabic", Path: "400Regular/NotoNaskhArabic_400Regular.ttf",
		SHA256: "706b4580c025f6c75ec1c06013e17f00a23ec1780091b77a5a5b339469bda94d"},
	{Family: "NotoNaskhArabic", Weight: typeset.SemiBold, Package: "noto-naskh-arabic", Path: "600SemiBold/NotoNaskhArabic_600SemiBold.ttf",
		SHA256: "20fe1526e7e1af9f230f27383dfed3fd264eb78da219fc289d3fcbf52e441c82"},
	{Family: "NotoSansBengali", Weight: typeset.Regular, Package: "noto-sans-bengali", Path: "400Regular/NotoSansBengali_400Regular.ttf",
		SHA256: "6826d9667972f0f96e48c46f7a24e70afe97205032e6295cfb1f13fbbb8b90a3"},
	{Family: "NotoSansBengali", Weight: typeset.SemiBold, Package: "noto-sans-bengali", Path: "600SemiBold/NotoSansBengali_600SemiBold.ttf",
		SHA256: "11a92a5f1f1c1a2b07db267fdfe1b20f3379bd96d7b43358f895223709ab8838"},
	{Family: "NotoSansDevanagari", Weight: typeset.Regular, Package: "noto-sans-devanagari", Path: "400Regular/NotoSansDevanagari_400Regular.ttf",
		SHA256: "084a94d89eb54aafb93a056e15425c34fd859f6342875165d304837b3bcfc2d2"},
	{Family: "NotoSansDevanagari", Weight: typeset.SemiBold, Package: "noto-sans-devanagari", Path: "600SemiBold/NotoSansDevanagari_600SemiBold.ttf",
		SHA256: "5f8764f341ed1badfd382540277386c97b2a711399cb273c4854c3097588287b"},
	{Family: "NotoSansGurmukhi", Weight: typeset.Regular, Package: "noto-sans-gurmukhi", Path: "400Regular/NotoSansGurmukhi_400Regular.ttf",
		SHA256: "2b0fbe8d4cc2a18aa08c6f21d3924423c113fb7ec6d786a77c30cf1d3153c4c7"},
	{Family: "NotoSansGurmukhi", Weight: typeset.SemiBold, Package: "noto-sans-gurmukhi", Path: "600SemiBold/NotoSansGurmukhi_600SemiBold.ttf",
		SHA256: "7f662cb0dfe9911b91cbb001582b84cbe520eababcd53dd759569b3ec90e5a59"},
	{Family: "NotoSansSinhala", Weight: typeset.Regular, Package: "noto-sans-sinhala", Path: "400Regular/NotoSansSinhala_400Regular.ttf",
		SHA256: "33a77b6965e5245f1bab858ead09e4789aaa8daa918f9e26e924b016a3e1d7bd"},
	{Family: "NotoSansSinhala", Weight: typeset.SemiBold, Package: "noto-sans-sinhala", Path: "600SemiBold/NotoSansSinhala_600SemiBold.ttf",
		SHA256: "5bfebf96d89ad431c6d35abf006fe06dcead1994598b3e16c343968b0fd2e4da"},
	{Family: "NotoSansTamil", Weight: typeset.Regular, Package: "noto-sans-tamil", Path: "400Regular/NotoSansTamil_400Regular.ttf",
		SHA256: "f26d8b66bf6f38dd9af6326a52188fa1a8a0b9b2905c4bd7e07c865f65a85d79"},
	{Family: "NotoSansTamil", Weight: typeset.SemiBold, Package: "noto-sans-tamil", Path: "600SemiBold/NotoSansTamil_600SemiBold.ttf",
		SHA256: "4b9fe16bb719d439d9c6935e6e1ffe502ad5c3d58363f113f73dd5f3e7e1f6ab"},
	{Family: "NotoSansJP", Weight: typeset.Regular, Package: "noto-sans-jp", Path: "400Regular/NotoSansJP_400Regular.ttf",
		SHA256: "d930d5d52d15231c283089760f84584272ad5e37e14607ba0d19c798e7a9caec"},
	{Family: "NotoEmoji", Weight: typeset.Regular, Package: "noto-emoji", Path: "400Regular/NotoEmoji_400Regular.ttf",
		SHA256: "24aaa2a20c9c06ffe9bf04284bfd1f14376a329d10122f902abe2770817eb504"},
	{Family: "NotoSansGujarati", Weight: typeset.Regular, Package: "noto-sans-gujarati", Path: "400Regular/NotoSansGujarati_400Regular.ttf",
		SHA256: "7cc0f340be8ef8b63f92181fd5576a4b19631059fd6576c6fd5fcd40f1543610", Optional: true},
	{Family: "NotoSansGujarati", Weight: typeset.SemiBold, Package: "noto-sans-gujarati", Path: "600SemiBold/NotoSansGujarati_600SemiBold.ttf",
		SHA256: "0c950a99fea59da9b1f1c40e78e00069a9e09132cce4a54f9dc7da240eaf962a", Optional: true},
	{Family: "NotoSansHebrew", Weight: typeset.Regular, Package: "noto-sans-hebrew", Path: "400Regular/NotoSansHebrew_400Regular.ttf",
		SHA256: "e0ee753f09733337b9236221018d4bf71fd6d06c87dd76bbc83120514bc55911", Optional: true},
	{Family: "NotoSansHebrew", Weight: typeset.SemiBold, Package: "noto-sans-hebrew", Path: "600SemiBold/NotoSansHebrew_600SemiBold.ttf",
		SHA256: "9abe8cafd04882a1733438a853b6933268f56680dc45eee1497ebb95b5f38216", Optional: true},
	{Family: "NotoSansKannada", Weight: typeset.Regular, Package: "noto-sans-kannada", Path: "400Regular/NotoSansKannada_400Regular.ttf",
		SHA256: "40e8188c98e3913aae2241d570b179fdc29fd90ecb6b5dc4376298bcbe45c38b", Optional: true},
	{Family: "NotoSansKannada", Weight: typeset.SemiBold, Package: "noto-sans-kannada", Path: "600SemiBold/NotoSansKannada_600SemiBold.ttf",
		SHA256: "80d089b77328375474a984410f1bded78d611bcc597a808b4f42fed0edfd63e5", Optional: true},
	{Family: "NotoSansMalayalam", Weight: typeset.Regular, Package: "noto-sans-malayalam", Path: "400Regular/NotoSansMalayalam_400Regular.ttf",
		SHA256: "68cbfeac7177700d87671f2a3bdb3db70fa26016e41cdac24e20877bf3736485", Optional: true},
	{Family: "NotoSansMalayalam", Weight: typeset.SemiBold, Package: "noto-sans-malayalam", Path: "600SemiBold/NotoSansMalayalam_600SemiBold.ttf",
		SHA256: "90af8417c53fd9ffa7b7f0d9c20eec31a4d0c4af84262e56d4eeb8731d3362cc", Optional: true},
	{Family: "NotoSansOriya", Weight: typeset.Regular, Package: "noto-sans-oriya", Path: "400Regular/NotoSansOriya_400Regular.ttf",
		SHA256: "ba383a603869b5874d88a51ccd9aa526aefd18130c497bae6ce25db09507dd6e", Optional: true},
	{Family: "NotoSansOriya", Weight: typeset.SemiBold, Package: "noto-sans-oriya", Path: "600SemiBold/NotoSansOriya_600SemiBold.ttf",
		SHA256: "b10fee0d3442bcd42fc30be01d72a21140418d7d26bf54958472143728a40d8a", Optional: true},
	{Family: "NotoSansTelugu", Weight: typeset.Regular, Package: "noto-sans-telugu", Path: "400Regular/NotoSansTelugu_400Regular.ttf",
		SHA256: "7fcef235380f945d4a97fdfec030952afab6907004cfa37ed664fed8d4962eac", Optional: true},
	{Family: "NotoSansTelugu", Weight: typeset.SemiBold, Package: "noto-sans-telugu", Path: "600SemiBold/NotoSansTelugu_600SemiBold.ttf",
		SHA256: "ecd5276d25c51ec7f7c8f5b3ad0b91c01665e25fbe9f2d1a72169750c7f000a1", Optional: true},
	{Family: "NotoSansThai", Weight: typeset.Regular, Package: "noto-sans-thai", Path: "400Regular/NotoSansThai_400Regular.ttf",
		SHA256: "9acb585d8662ca4ed1b1cf5889dfa1393f8555103b3986e1ea1e3af4faef70bd", Optional: true},
	{Family: "NotoSansThai", Weight: typeset.SemiBold, Package: "noto-sans-thai", Path: "600SemiBold/NotoSansThai_600SemiBold.ttf",
		SHA256: "2e0c06600ac07f9e22c9d360d3e3b37651af9aff9d2dd4b418ba9fd6856c51ea", Optional: true},
	{Family: "NotoSansKR", Weight: typeset.Regular, Package: "noto-sans-kr", Path: "400Regular/NotoSansKR_400Regular.ttf",
		SHA256: "8cbc9b353bb9ce848fd69bb6a507319dfacc659cf5fd643db5d88f3c4970e1dd", Optional: true},
	{Family: "NotoSansSC", Weight: typeset.Regular, Package: "noto-sans-sc", Path: "400Regular/NotoSansSC_400Regular.ttf",
		SHA256: "d45f67f0a7c0ca3f256950777ce6a61cc7ce5f9696d02900cbbaac25f8aa7d16", Optional: true},
}
