module stint

go 1.19
